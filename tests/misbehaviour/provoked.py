"""One illegal choice for every reason that a bot can provoke, then a match to its end."""

from referee.engine.state import State
from tests.misbehaviour.arena import TABLE, Bad, Behaviour, Expected, rejected, send_choice
from tests.misbehaviour.reasons import DRAW_STOCK, PROVOCATIONS, Provocation, discard
from tests.service.clients import Client


def state_of(bad: Bad) -> State:
    """The deal as the referee has it."""
    game = bad.match._game
    state = getattr(game, "state")  # noqa: B009 - a Game need not have one; RummyGame has
    assert isinstance(state, State)
    return state


async def provoke(bad: Bad, reason: str, provocation: Provocation) -> Client:
    """Put up the position, send the choice, see the rejection, and put the old position back."""
    one, update = await bad.asked()
    kept = state_of(bad).copy()
    provocation.rig(state_of(bad))
    await send_choice(one, update, actions=provocation.plan)
    refused = await rejected(one, reason)
    assert (refused.applied, refused.strikes_left) == (provocation.applied, 2)
    assert refused.text
    following = await one.decision()
    assert following.decision.decision_id == refused.decision_id + 1
    setattr(bad.match._game, "state", kept)  # noqa: B010
    await send_choice(one, following, actions=[DRAW_STOCK])
    return one


def _enter(reason: str, provocation: Provocation) -> None:
    async def act(bad: Bad) -> None:
        one = await provoke(bad, reason, provocation)
        await one.play()

    name = f"illegal: {reason.lower()}"
    TABLE.append(Behaviour(name, act, Expected(illegal=1), rules=provocation.rules))


for _reason, _provocation in PROVOCATIONS.items():
    _enter(_reason, _provocation)


async def plan_past_the_turn(bad: Bad) -> None:
    """A plan that goes on after the discard: what stood before that is played."""
    one, update = await bad.asked()
    card = update.decision.observation.hand[0]
    last = discard("AC")
    last.cards[0] = card
    await send_choice(one, update, actions=[DRAW_STOCK, last, DRAW_STOCK])
    assert (await rejected(one, "PLAN_PAST_TURN")).applied == 2
    await one.play()


TABLE.append(Behaviour("illegal: plan_past_turn", plan_past_the_turn, Expected(illegal=1)))
