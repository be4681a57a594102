"""What a test of two bots says, as a view."""

from tournament.report.about import about, title
from tournament.report.cells import interval, or_dash, percent, rounded
from tournament.report.render import Column, Part, Row, View
from tournament.runner.early_stop import Trial
from tournament.statistics.pairs import pair_row
from tournament.statistics.sprt import Outcome, Sprt
from tournament.store.stored import Tournament


def _with_limits(name: str, low: str, high: str, digits: int, factor: float = 1.0) -> Column:
    def show(row: Row) -> str:
        middle, least, most = (
            value * factor if isinstance(value := row[key], int | float) else None
            for key in (name, low, high)
        )
        limits = interval(least, most, digits)
        return f"{rounded(digits)(middle)} ({limits})" if limits else rounded(digits)(middle)

    return Column(name, {"score": "Score %", "elo": "Elo"}[name], show_row=show)


def _hidden(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, "", for_people=False) for name in names)


def _outcome(row: Row) -> str:
    elo0, elo1 = (f"{row[name]:g}" for name in ("elo0", "elo1"))
    return {
        Outcome.ACCEPTED_H1: f"H1 accepted: stronger by {elo1} rather than {elo0} Elo",
        Outcome.ACCEPTED_H0: f"H0 accepted: stronger by {elo0} rather than {elo1} Elo",
        Outcome.UNDECIDED: "undecided",
    }[Outcome(str(row["outcome"]))]


def _pairs(row: Row) -> str:
    return " ".join(str(row[name]) for name in ("ll", "ld", "wl_dd", "wd", "ww"))


def _llr(row: Row) -> str:
    llr, lower, upper = (rounded(2)(row[name]) for name in ("llr", "lower", "upper"))
    return f"{llr} (decided at {lower} and {upper})"


_COLUMNS = (
    Column("bot", "Bot"),
    Column("opponent", "Against"),
    Column("outcome", "Verdict", show_row=_outcome),
    Column(
        "encounters",
        "Encounters",
        show_row=lambda row: f"{row['encounters']} of at most {row['most']}",
    ),
    Column("most", "", for_people=False),
    Column("pairs", "LL LD = WD WW", in_data=False, show_row=_pairs),
    *_hidden("ll", "ld", "wl_dd", "wd", "ww"),
    _with_limits("score", "score_low", "score_high", 1, 100.0),
    *_hidden("score_low", "score_high"),
    _with_limits("elo", "elo_low", "elo_high", 0),
    *_hidden("elo_low", "elo_high"),
    Column("los", "Likely better", percent),
    Column("llr", "LLR", show_row=_llr),
    *_hidden("lower", "upper", "elo0", "elo1", "alpha", "beta"),
    Column("unplayed", "Passed over", or_dash),
)
PASSED_OVER = (
    "Passed over: encounters that have no result although they were tried; they count for nobody."
)


def verdict_view(tournament: Tournament, trial: Trial, sprt: Sprt) -> View:
    """Return the verdict with the figures that it rests on, and what it means in words."""
    pairs = pair_row(trial.scores, trial.bot, trial.opponent)
    verdict = trial.verdict
    row: dict[str, object] = {
        "bot": trial.bot,
        "opponent": trial.opponent,
        "outcome": verdict.outcome.value,
        "encounters": len(trial.scores),
        "most": trial.planned,
        "ll": pairs.ll,
        "ld": pairs.ld,
        "wl_dd": pairs.wl_dd,
        "wd": pairs.wd,
        "ww": pairs.ww,
        "score": pairs.score,
        "score_low": pairs.low,
        "score_high": pairs.high,
        "elo": pairs.elo,
        "elo_low": pairs.elo_low,
        "elo_high": pairs.elo_high,
        "los": pairs.los,
        "llr": verdict.llr,
        "lower": verdict.lower,
        "upper": verdict.upper,
        "elo0": sprt.elo0,
        "elo1": sprt.elo1,
        "alpha": sprt.alpha,
        "beta": sprt.beta,
        "unplayed": trial.unplayed,
    }
    notes = [in_words(trial, sprt), PASSED_OVER]
    part = Part(name="test", columns=_COLUMNS, rows=[row], is_single=True, notes=notes)
    return View(about=about(tournament), parts=[part], title=title(tournament))


def in_words(trial: Trial, sprt: Sprt) -> str:
    """Return what the verdict means."""
    bot, opponent = trial.bot, trial.opponent
    if trial.verdict.outcome is Outcome.ACCEPTED_H1:
        return (
            f"{bot} is stronger than {opponent} by {sprt.elo1:g} Elo rather than {sprt.elo0:g}:"
            f" if it were only {sprt.elo0:g}, a test would say so at most {sprt.alpha:.1%} of the"
            " time."
        )
    if trial.verdict.outcome is Outcome.ACCEPTED_H0:
        return (
            f"{bot} is not stronger than {opponent} by {sprt.elo1:g} Elo, {sprt.elo0:g} is more"
            f" likely: if it were {sprt.elo1:g}, a test would say so at most {sprt.beta:.1%} of the"
            " time."
        )
    return (
        f"Undecided: {len(trial.scores)} encounters tell neither that {bot} is {sprt.elo1:g} Elo"
        f" stronger than {opponent} nor that it is only {sprt.elo0:g}. More encounters, or values"
        " further apart, would."
    )
