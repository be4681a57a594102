"""Tokens: who they stand for, and that they are kept as hashes only."""

import pytest

from referee.service.tokens import Tokens


def test_token_stands_for_a_bot() -> None:
    tokens = Tokens()
    one, other = tokens.issue("greedy", "1.0"), tokens.issue("greedy", "1.0")
    assert one != other
    assert len(one) >= 40
    identity = tokens.identify(one)
    assert identity is not None
    assert (identity.bot, identity.version) == ("greedy", "1.0")
    assert identity == tokens.identify(one)
    twin = tokens.identify(other)
    assert twin is not None
    assert twin.key != identity.key


def test_unknown_and_revoked_tokens() -> None:
    tokens = Tokens()
    token = tokens.issue("greedy", "1.0")
    for wrong in ("", token[:-1], token + "x", token.upper(), "nonsense", "\ud800"):
        assert tokens.identify(wrong) is None
    tokens.revoke("nonsense")
    tokens.revoke(token)
    assert tokens.identify(token) is None


def test_open_tokens_name_nobody() -> None:
    tokens = Tokens(is_open=True)
    identity = tokens.identify("anything")
    assert identity is not None
    assert (identity.bot, identity.version) == ("", "")
    known = tokens.identify(tokens.issue("greedy", "1.0"))
    assert known is not None
    assert known.bot == "greedy"


def test_revoked_token_is_refused_where_any_other_is_let_in() -> None:
    tokens = Tokens(is_open=True)
    for token in (tokens.issue("greedy", "1.0"), "of a guest"):
        tokens.revoke(token)
        assert tokens.identify(token) is None
    assert tokens.identify("of another guest") is not None


@pytest.mark.parametrize("is_open", [False, True])
def test_organisers(*, is_open: bool) -> None:
    tokens = Tokens(is_open=is_open)
    one, other = tokens.issue_organiser(), tokens.issue_organiser()
    assert one != other
    assert len(one) >= 40
    assert tokens.is_organiser(one)
    bot = tokens.issue("greedy", "1.0")
    for wrong in ("", bot, one[:-1], one + "x", "nonsense"):
        assert not tokens.is_organiser(wrong)
    assert tokens.identify(one) is None, "it plays for nobody"
    tokens.revoke(one)
    assert not tokens.is_organiser(one)
    assert tokens.identify(one) is None
    assert tokens.is_organiser(other)


def test_organiser_with_a_token_from_elsewhere() -> None:
    tokens = Tokens(is_open=True)
    tokens.revoke("from a file")
    tokens.admit_organiser("from a file")
    assert tokens.is_organiser("from a file")
    with pytest.raises(ValueError, match="empty"):
        tokens.admit_organiser("")
    assert not tokens.is_organiser("")


def test_token_itself_is_not_kept() -> None:
    tokens = Tokens(is_open=True)
    token, organiser = tokens.issue("greedy", "1.0"), tokens.issue_organiser()
    revoked = tokens.issue("greedy", "1.0")
    tokens.revoke(revoked)
    for secret in (token, organiser, revoked):
        assert secret not in repr(vars(tokens))
    identity = tokens.identify(token)
    assert identity is not None
    assert token not in repr(identity)
