"""Between matches as organisers order and see them and the messages of match.proto."""

from typing import Final

from referee.engine.presets import make_ruleset, merge_overrides, parse_override
from referee.engine.rule_fields import BY_SEATS, FIELDS
from referee.engine.ruleset import RuleSet, RuleSetError
from referee.match.spec import TimeControl
from referee.service.bots import Bot
from referee.service.errors import refuse
from referee.service.messages import match_ended_message, time_control_message
from referee.service.ordered_match import MatchState, OrderedMatch
from referee.service.rules_message import rules_message
from rummy.referee.v1 import match_pb2 as pb
from rummy.referee.v1 import play_pb2, rummy_pb2

STATES: Final = {
    MatchState.WAITING: pb.MATCH_STATE_WAITING,
    MatchState.RUNNING: pb.MATCH_STATE_RUNNING,
    MatchState.ENDED: pb.MATCH_STATE_ENDED,
}
_MOST_OVERRIDES: Final = 100


# --- what is ordered ----------------------------------------------------------------------------


def read_rules(request: pb.CreateMatchRequest) -> RuleSet:
    """The rules of a match. Raises CallError with the text of the RuleSetError."""
    kind = request.WhichOneof("rules")
    try:
        if kind == "preset_rules":
            return _preset_rules(request.preset_rules)
        if kind == "rule_set":
            return rules_from_message(request.rule_set)
    except RuleSetError as error:
        raise refuse("BAD_RULES", str(error)) from error
    raise refuse("NO_RULES", "there are no rules: give preset_rules or rule_set")


def _preset_rules(message: pb.PresetRules) -> RuleSet:
    if len(message.overrides) > _MOST_OVERRIDES:
        text = f"preset_rules.overrides are {len(message.overrides)}: at most {_MOST_OVERRIDES}"
        raise refuse("BAD_RULES", text)
    return make_ruleset(message.preset, merge_overrides(map(parse_override, message.overrides)))


def rules_from_message(message: rummy_pb2.RuleSet) -> RuleSet:
    """The rules that a message RuleSet holds: every field counts. Raises RuleSetError."""
    return make_ruleset(message.preset, {name: _rule(message, name) for name in FIELDS})


def _rule(message: rummy_pb2.RuleSet, name: str) -> object:
    value, field = getattr(message, name), message.DESCRIPTOR.fields_by_name[name]
    if name in BY_SEATS:
        return dict(value)
    if field.has_presence and field not in dict(message.ListFields()):
        return None
    enum = field.enum_type
    if enum is None:
        return value
    known = enum.values_by_number.get(value)
    if known is None:
        return f"number {value}"
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return known.name.removeprefix(prefix).lower()


def read_time_control(request: pb.CreateMatchRequest) -> TimeControl:
    """The clock, or the default one. Raises CallError naming the field."""
    if not request.HasField("time_control"):
        return TimeControl()
    message: play_pb2.TimeControl = request.time_control
    try:
        return TimeControl(**{name: getattr(message, name) for name in TimeControl.__slots__})
    except ValueError as error:
        raise refuse("BAD_TIME_CONTROL", f"time_control.{error}") from error


# --- what is shown ------------------------------------------------------------------------------


def bot_id_of(bot: Bot) -> str:
    """Names a bot to organisers: the beginning of its token's hash."""
    return bot.identity.key[:16]


def bot_message(bot: Bot) -> pb.Bot:
    """The message of a bot."""
    session = bot.session
    return pb.Bot(
        bot_id=bot_id_of(bot),
        bot=bot.name,
        version=bot.version,
        connected=bot.is_connected,
        matches=len(bot.seats),
        max_concurrent_matches=session.max_concurrent_matches if session else 0,
    )


def match_message(match: OrderedMatch, *, for_organiser: bool, with_rules: bool = True) -> pb.Match:
    """The message of a match. Spectators see nobody's ids and connections."""
    spec = match.spec
    message = pb.Match(
        match_id=spec.match_id,
        state=STATES[match.state],
        time_control=time_control_message(spec.time_control),
        first_dealer=spec.first_dealer,
        seats=[
            pb.MatchSeat(
                bot=seat.bot,
                version=seat.version,
                bot_id=bot_id_of(bot) if for_organiser else "",
                connected=for_organiser and bot.is_connected,
            )
            for seat, bot in zip(spec.seats, match.bots, strict=True)
        ],
        commitment=spec.commitment,
        open_to_spectators=match.is_open,
        record_published=match.is_published,
        created_unix_ms=match.created_ms,
        ended_unix_ms=match.ended_ms,
        last_event_number=match.log.last,
    )
    if with_rules:
        message.rules.CopyFrom(rules_message(spec.rules))
    if match.result is not None:
        message.result.CopyFrom(match_ended_message(match.result))
    return message
