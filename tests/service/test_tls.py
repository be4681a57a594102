"""TLS: which files are refused and why, and matches that are played over it."""

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from referee.service.server import Referee
from referee.service.tls import TlsError, TlsFiles, read_tls
from tests.commands import refused
from tests.service.clients import PATIENCE_S, PATIENT, client, new_spec, result_of, two_bots
from tests.service.serving import SHORT, check_played, sample_bot, serving, stream

# --- certificates -------------------------------------------------------------------------------


def openssl(*arguments: str | Path) -> None:
    """Run the command; it is in Debian's package openssl."""
    done = subprocess.run(
        ["openssl", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def new_key(path: Path) -> Path:
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
    return path


def self_signed(path: Path, key: Path, *options: str) -> Path:
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    request = ("req", "-x509", "-new", "-subj", "/CN=localhost", "-days", "2", "-addext", names)
    openssl(*request, "-key", key, *options, "-out", path)
    return path


@pytest.fixture(scope="session")
def pems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with PEM files, good ones and others."""
    folder = tmp_path_factory.mktemp("pems")
    key = new_key(folder / "key")
    new_key(folder / "other-key")
    self_signed(folder / "cert", key)
    self_signed(folder / "other-cert", folder / "other-key")
    request = folder / "request"
    openssl("req", "-new", "-key", key, "-subj", "/CN=localhost", "-out", request)
    days_ago = ("-days", "-1")
    openssl("x509", "-req", "-in", request, "-signkey", key, *days_ago, "-out", folder / "expired")
    self_signed(folder / "for-clients", key, "-addext", "extendedKeyUsage=clientAuth")
    secret = ("-aes128", "-passout", "pass:x")
    openssl("ec", "-in", key, *secret, "-out", folder / "encrypted")
    openssl("pkcs8", "-topk8", "-in", key, "-passout", "pass:x", "-out", folder / "encrypted8")
    openssl("x509", "-in", folder / "cert", "-outform", "DER", "-out", folder / "der")
    (folder / "text").write_text("no PEM\n")
    (folder / "damaged").write_text("-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n")
    (folder / "damaged-key").write_text(
        "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"
    )
    (folder / "chain").write_text(
        (folder / "cert").read_text() + (folder / "other-cert").read_text()
    )
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    return folder


def test_good_files(pems: Path) -> None:
    for name in ("cert", "chain"):
        tls = read_tls(TlsFiles(pems / name, pems / "key", pems / "other-cert"))
        assert tls.not_after.endswith("GMT")


@pytest.mark.parametrize(
    ("cert", "key", "ca", "named", "why"),
    [
        ("none", "key", "", "none", "cannot be read: No such file or directory"),
        ("cert", "none", "", "none", "cannot be read: No such file or directory"),
        ("cert", "key", "none", "none", "cannot be read: No such file or directory"),
        ("folder", "key", "", "folder", "is no file: allowed is a PEM file"),
        ("cert", "pipe", "", "pipe", "is no file: allowed is a PEM file"),
        ("text", "key", "", "text", "is not a PEM file with a certificate"),
        ("der", "key", "", "der", "is not a PEM file with a certificate"),
        ("key", "key", "", "key", "is not a PEM file with a certificate"),
        ("cert", "cert", "", "cert", "is not a PEM file with a private key"),
        ("cert", "text", "", "text", "is not a PEM file with a private key"),
        ("cert", "key", "text", "text", "is not a PEM file with a certificate"),
        ("cert", "key", "damaged", "damaged", "cannot be used"),
        ("damaged", "key", "", "damaged", "cannot be used"),
        ("cert", "damaged-key", "", "damaged-key", "cannot be used"),
        ("cert", "other-key", "", "other-key", "is not the key of"),
        ("cert", "encrypted", "", "encrypted", "is encrypted: allowed is a key without"),
        ("cert", "encrypted8", "", "encrypted8", "is encrypted: allowed is a key without"),
        ("expired", "key", "", "expired", "certificate has expired"),
        ("for-clients", "key", "", "for-clients", "unsuitable certificate purpose"),
    ],
)
def test_bad_files(pems: Path, cert: str, key: str, ca: str, named: str, why: str) -> None:
    with pytest.raises(TlsError) as caught:
        read_tls(TlsFiles(pems / cert, pems / key, pems / ca if ca else None))
    assert why in str(caught.value)
    assert str(pems / named) in str(caught.value)


def test_command_names_what_is_wrong(pems: Path) -> None:
    cert, key = ("--tls-cert", str(pems / "cert")), ("--tls-key", str(pems / "key"))
    serve = ("serve", "--listen", "127.0.0.1:0")
    assert "--tls-cert is given without --tls-key" in refused(*serve, *cert)
    assert "--tls-key is given without --tls-cert" in refused(*serve, *key)
    lonely = refused(*serve, "--tls-client-ca", str(pems / "cert"))
    assert "--tls-client-ca is given without" in lonely
    told = refused(*serve, *cert, "--tls-key", str(pems / "other-key"))
    assert "other-key is not the key of" in told


# --- matches ------------------------------------------------------------------------------------

Dial = Callable[[grpc.ChannelCredentials | None], None]


@pytest.fixture
def dial(monkeypatch: pytest.MonkeyPatch) -> Dial:
    """Lets the clients of other tests dial with these credentials, or without again."""
    plain = grpc.aio.insecure_channel

    def with_(credentials: grpc.ChannelCredentials | None) -> None:
        def channel(address: str) -> grpc.aio.Channel:
            if credentials is None:
                return plain(address)
            return grpc.aio.secure_channel(address, credentials)

        monkeypatch.setattr(grpc.aio, "insecure_channel", channel)

    return with_


async def test_match_over_tls(pems: Path, dial: Dial) -> None:
    referee = Referee(policy=PATIENT)
    tls = read_tls(TlsFiles(pems / "cert", pems / "key"))
    (address,) = await referee.listen("127.0.0.1:0", credentials=tls.credentials)
    dial(grpc.ssl_channel_credentials((pems / "cert").read_bytes()))
    async with two_bots(referee, address) as (tokens, one, other):
        playing = asyncio.create_task(referee.play(new_spec(), tokens))
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(one.play(), other.play())
        assert (await result_of(playing)).termination == "completed"
    # Who trusts somebody else, or speaks plain TCP, does not get through.
    for credentials in (grpc.ssl_channel_credentials((pems / "other-cert").read_bytes()), None):
        dial(credentials)
        async with client(address, tokens[0]) as bot:
            assert await bot.receive() is None
            assert await bot.code() is grpc.StatusCode.UNAVAILABLE
    await referee.close()


async def test_bots_that_must_show_a_certificate(pems: Path, dial: Dial) -> None:
    referee = Referee(policy=PATIENT)
    tls = read_tls(TlsFiles(pems / "cert", pems / "key", pems / "other-cert"))
    (address,) = await referee.listen("127.0.0.1:0", credentials=tls.credentials)
    token = referee.issue_token("bot", "1")
    root = (pems / "cert").read_bytes()

    def shown(name: str, key: str) -> grpc.ChannelCredentials:
        files = (pems / key).read_bytes(), (pems / name).read_bytes()
        return grpc.ssl_channel_credentials(root, *files)

    for credentials in (grpc.ssl_channel_credentials(root), shown("cert", "key")):
        dial(credentials)
        async with client(address, token) as bot:
            assert await bot.receive() is None
            assert await bot.code() is grpc.StatusCode.UNAVAILABLE
    dial(shown("other-cert", "other-key"))
    async with client(address, token) as bot:
        await bot.hello()
    await referee.close()


async def test_unix_socket_stays_plain(pems: Path, tmp_path: Path) -> None:
    referee = Referee(policy=PATIENT)
    tls = read_tls(TlsFiles(pems / "cert", pems / "key"))
    (address,) = await referee.listen(f"unix:{tmp_path}/r.sock", credentials=tls.credentials)
    async with client(address, referee.issue_token("bot", "1")) as bot:
        await bot.hello()
    await referee.close()


def test_house_bot_plays_a_guest_that_speaks_tls(pems: Path, tmp_path: Path) -> None:
    files = ("--tls-cert", str(pems / "cert"), "--tls-key", str(pems / "key"))
    house = ("--play", "random", *SHORT)
    with serving(tmp_path, "--listen", "127.0.0.1:0", *files, *house) as server:
        line = server.wait_for("listening")
        assert line["tls"] is True
        assert server.wait_for("certificate")["not_after"].endswith("GMT")
        server.wait_for("house bot is ready")
        trusted = grpc.ssl_channel_credentials((pems / "cert").read_bytes())
        with stream(line["address"], credentials=trusted) as bot:
            bot.play()
        ended = server.wait_for("match ended")
        check_played(ended)
        known = {"RUMMY_TLS_CA": str(pems / "cert")}
        done = sample_bot("greedy", line["address"], tmp_path, **known)
        assert done.returncode == 0, done.stderr
        assert sample_bot("greedy", line["address"], tmp_path, RUMMY_TLS_CA="no").returncode == 2
        assert sorted(ended["bots"]) == ["house-random", "silent"]
        assert len(server.lines("listening")) == 1, "the house's own socket is nobody's business"
        assert server.stop() == 0
