"""Where encounters get their secrets from: the operating system, or a seed to be repeated."""

import secrets
from collections.abc import Mapping, Sequence

from tournament.schedule import seeds
from tournament.schedule.fixtures import Encounter


def secrets_for(seed: int | None, plan: Sequence[Encounter]) -> dict[str, bytes]:
    """Return a new secret for each encounter, by its id."""
    return {
        encounter.encounter_id: secrets.token_bytes(seeds.SECRET_BYTES)
        if seed is None
        else seeds.seeded_secret(seed, encounter.encounter_id)
        for encounter in plan
    }


def salts_for(
    seed: int | None, plan: Sequence[Encounter], by_encounter: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return a new salt for each leg's commitment, by the id of its fixture."""
    return {
        leg.fixture_id: secrets.token_bytes(seeds.SECRET_BYTES)
        if seed is None
        else seeds.seeded_salt(by_encounter[encounter.encounter_id], leg.leg)
        for encounter in plan
        for leg in encounter.legs
    }
