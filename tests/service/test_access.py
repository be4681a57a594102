"""Who may ask for what: bearer tokens, the organiser's file, addresses, and reflection."""

import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from referee.service.access import TokenFileError, bearer_of, check_organiser, organiser_token
from referee.service.addresses import AddressError, check_address, host_and_port, is_local
from referee.service.errors import CallError
from referee.service.server import Referee
from referee.service.tokens import Tokens

# --- bearer tokens ------------------------------------------------------------------------------


class Context:
    """What came with a call."""

    def __init__(self, *pairs: tuple[str, str | bytes]) -> None:
        self._pairs = pairs or None

    def invocation_metadata(self) -> Any:
        """The pairs; None for none."""
        return self._pairs


@pytest.mark.parametrize(
    ("pairs", "token"),
    [
        ([], ""),
        ([("other", "Bearer abc")], ""),
        ([("authorization", "")], ""),
        ([("authorization", "Bearer")], ""),
        ([("authorization", "Bearer  ")], ""),
        ([("authorization", "Basic abc")], ""),
        ([("authorization", "Bearer abc")], "abc"),
        ([("authorization", "bearer abc ")], "abc"),
        ([("authorization", b"BEARER abc"), ("other", "x")], "abc"),
        ([("authorization", b"Bearer \xff")], "\ufffd"),
    ],
)
def test_bearer(pairs: list[tuple[str, str | bytes]], token: str) -> None:
    assert bearer_of(Context(*pairs)) == token


def test_only_an_organiser_is_one() -> None:
    tokens = Tokens(is_open=True)
    organiser = tokens.issue_organiser()
    check_organiser(tokens, organiser)
    for wrong, reason in (("", "NO_TOKEN"), ("x", "BAD_TOKEN"), (tokens.issue("b", "1"), "BAD_TO")):
        with pytest.raises(CallError) as caught:
            check_organiser(tokens, wrong)
        assert caught.value.code is grpc.StatusCode.UNAUTHENTICATED
        assert caught.value.reason.startswith(reason)


# --- the organiser's file -----------------------------------------------------------------------


def test_missing_file_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "organiser"
    before = os.umask(0)
    try:
        token = organiser_token(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(token) >= 40
    assert path.read_text() == f"{token}\n"
    assert organiser_token(path) == token
    path.chmod(0o400)
    assert organiser_token(path) == token


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o777])
def test_file_that_others_can_use_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "organiser"
    token = organiser_token(path)
    path.chmod(mode)
    with pytest.raises(TokenFileError, match=f"{path} has mode 0{mode:o}.*0600 and 0400") as caught:
        organiser_token(path)
    assert token not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "\n", "short", "x" * 31, "x" * 513, "x" * 40 + "\n" + "y" * 40, "ä" * 40]
)
def test_file_without_a_token(tmp_path: Path, text: str) -> None:
    path = tmp_path / "organiser"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(
        TokenFileError, match=f"{path} holds no token: allowed are 32–512"
    ) as caught:
        organiser_token(path)
    assert not text.strip() or text.strip() not in str(caught.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(TokenFileError, match=f"{tmp_path} is no file|{tmp_path} cannot be read"):
        organiser_token(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    with pytest.raises(TokenFileError, match=f"{pipe} is no file"):
        organiser_token(pipe)
    with pytest.raises(TokenFileError, match="none/organiser cannot be made: No such file"):
        organiser_token(tmp_path / "none" / "organiser")


# --- addresses ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("127.0.0.1:0", True),
        ("127.9.9.9:50051", True),
        ("[::1]:50051", True),
        ("localhost:50051", True),
        ("unix:/tmp/x.sock", True),
        ("0.0.0.0:50051", False),
        ("[::]:50051", False),
        ("192.168.0.7:50051", False),
        ("localhost.example.org:50051", False),
        ("example.org:50051", False),
    ],
)
def test_who_reaches_an_address(address: str, *, local: bool) -> None:
    assert is_local(address) is local


def test_parts_of_an_address() -> None:
    assert host_and_port("[::1]:5") == ("::1", 5)
    assert host_and_port("localhost:65535") == ("localhost", 65_535)


@pytest.mark.parametrize(
    "address",
    ["", "nonsense", ":5", "[]:5", "host:", "host:x", "host:-1", "host:65536", "host:²", "::1:5"],
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(AddressError, match="is no address: allowed are HOST:PORT") as caught:
        check_address(address)
    assert repr(address) in str(caught.value)


def test_socket_paths(tmp_path: Path) -> None:
    check_address("unix:/tmp/x.sock")
    for path, why in (
        ("", "1–107 bytes"),
        ("/tmp/" + "x" * 103, "1–107 bytes"),
        (str(tmp_path), "no folder"),
        (f"{tmp_path}/none/x.sock", f"there is no folder {tmp_path}/none"),
    ):
        with pytest.raises(AddressError, match=why):
            check_address(f"unix:{path}")


# --- reflection ---------------------------------------------------------------------------------


async def services(address: str, token: str = "") -> list[str]:
    """What reflection names."""
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    async with grpc.aio.insecure_channel(address) as channel:
        new_stub: Any = reflection_pb2_grpc.ServerReflectionStub
        stub = new_stub(channel)

        async def question() -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
            yield reflection_pb2.ServerReflectionRequest(list_services="")

        call = stub.ServerReflectionInfo(question(), metadata=metadata, timeout=30)
        return [
            service.name
            async for response in call
            for service in response.list_services_response.service
        ]


async def test_reflection_is_open_on_this_machine(served: tuple[Referee, str]) -> None:
    assert not served[0].is_exposed
    assert "rummy.referee.v1.PlayService" in await services(served[1])


async def test_reflection_beyond_it_takes_an_organiser(served: tuple[Referee, str]) -> None:
    referee, address = served
    referee.is_exposed = True
    organiser = referee.tokens.issue_organiser()
    assert "rummy.referee.v1.PlayService" in await services(address, organiser)
    for token in ("", "nonsense", referee.issue_token("b", "1")):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await services(address, token)
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert "organiser" in str(caught.value.details())
    referee.revoke_token(organiser)
    with pytest.raises(grpc.aio.AioRpcError):
        await services(address, organiser)
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=""))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_who_listens_where_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not really beyond this machine: only what the address says is looked at."""
    monkeypatch.setattr(Referee, "_bind", lambda _self, address, _credentials: address)
    for addresses, exposed in (
        (("127.0.0.1:0",), False),
        (("127.0.0.1:0", "unix:/tmp/x"), False),
        (("127.0.0.1:0", "0.0.0.0:0"), True),
    ):
        referee = Referee()
        await referee.listen(*addresses)
        assert referee.is_exposed is exposed
        await referee.close()
