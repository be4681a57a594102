"""Tokens: who they stand for, and that they are kept as hashes only."""

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
    for wrong in ("", token[:-1], token + "x", token.upper(), "nonsense"):
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


def test_token_itself_is_not_kept() -> None:
    tokens = Tokens()
    token = tokens.issue("greedy", "1.0")
    assert token not in repr(vars(tokens))
    identity = tokens.identify(token)
    assert identity is not None
    assert token not in repr(identity)
