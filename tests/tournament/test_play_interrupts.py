"""Ctrl-C and SIGTERM at every moment: the run ends in order, and says what is stored."""

import asyncio
import os
import signal

import pytest

from tournament.runner.interrupts import Interrupted, run_until_signal, sigterm_interrupts

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_cancels_the_work_once_and_lets_it_end_in_order(number: signal.Signals) -> None:
    said: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()
        finally:
            for again in SIGNALS:
                os.kill(os.getpid(), again)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            said.append("in order")

    before = [signal.getsignal(one) for one in SIGNALS]
    with pytest.raises(Interrupted):
        run_until_signal(work(), lambda: said.append("stopping"))
    assert said == ["stopping", "in order"]
    assert [signal.getsignal(one) for one in SIGNALS] == before


def test_work_that_ends_by_itself_is_not_interrupted() -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    before = [signal.getsignal(one) for one in SIGNALS]
    run_until_signal(work(), lambda: pytest.fail("nobody asked"))
    assert [signal.getsignal(one) for one in SIGNALS] == before


def test_an_interrupt_before_the_loop_listens_counts_too() -> None:
    async def work() -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        run_until_signal(work(), lambda: None)


def test_sigterm_interrupts_like_ctrl_c_where_there_is_no_loop() -> None:
    before = signal.getsignal(signal.SIGTERM)

    def end() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()

    with pytest.raises(KeyboardInterrupt), sigterm_interrupts():
        end()
    assert signal.getsignal(signal.SIGTERM) == before
