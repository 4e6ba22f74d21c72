"""Sections of ``make reproduce`` hold in their quick form, and one that does not is told."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tools.reproduce import __main__ as command
from tools.reproduce import mueller_2022, paz_mattila
from tools.reproduce.claims import Claim, Section, Studio
from tools.reproduce.mueller_runs import order, periodic_derivatives
from tools.reproduce.page import page


@pytest.mark.usefixtures("traced_only")
def test_heavy_duty_section_holds_and_has_its_plots(tmp_path: Path) -> None:
    steps: list[str] = []
    section = paz_mattila.reproduce(Studio(tmp_path / "reproduction", steps.append, quick=True))
    assert section.missed == []
    assert all(claim.ok for claim in section.claims)
    assert {claim.where.split(",")[0] for claim in section.claims} == {
        *("Fig. 3", "Fig. 3b", "Fig. 3c", "Fig. 4", "Fig. 4b", "Fig. 4c"),
        *("Sec. 4", "Sec. 6"),
    }
    assert [figure.file.name for figure in section.figures] == [
        "paz_mattila_fig3.png",
        "paz_mattila_fig4.png",
    ]
    assert all(figure.file.stat().st_size > 10_000 for figure in section.figures)
    assert len(steps) == 3
    text = page([section], "a machine", tmp_path)
    assert "(reproduction/paz_mattila_fig3.png)" in text and "**NO**" not in text


@pytest.mark.slow
def test_section_of_irsbot2_holds_and_covers_all_figures(tmp_path: Path) -> None:
    section = mueller_2022.reproduce(Studio(tmp_path, lambda _: None, quick=True))
    assert section.missed == []
    wheres = [claim.where.split(",")[0] for claim in section.claims]
    figures = {int(n) for where in wheres if "Fig" in where for n in re.findall(r"\d+", where)}
    assert figures == {*range(8, 17), *range(18, 22)}
    assert len(section.figures) == 8


@pytest.mark.usefixtures("traced_only")
def test_a_wrong_acceleration_is_a_missed_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = paz_mattila._pinocchio

    def slightly_off(*given: object) -> np.ndarray:
        return honest(*given) * (1.0 + 1e-8)  # type: ignore[arg-type]

    monkeypatch.setattr(paz_mattila, "_pinocchio", slightly_off)
    monkeypatch.setattr(paz_mattila, "_growth", lambda: Claim("Sec. 4", "", "", True))
    section = paz_mattila.reproduce(Studio(tmp_path, lambda _: None, quick=True))
    missed = {claim.where.split(",")[0] for claim in section.missed}
    assert missed == {"Fig. 3c", "Fig. 4c", "Fig. 3", "Fig. 4"}


def test_command_fails_and_names_what_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = [Claim("Fig. 3b", "1e-13", "2.5", False), Claim("Fig. 3c", "1e-4", "1e-9", True)]
    monkeypatch.setattr(paz_mattila, "reproduce", lambda studio: Section("T", "text", claims))
    assert command.main(["--paper", "paz_mattila", "--out", str(tmp_path)]) == 1
    assert "MISSED: T, Fig. 3b: 1e-13; ours: 2.5" in capsys.readouterr().out
    assert "**NO**" in (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    claims.pop(0)
    assert command.main(["--paper", "paz_mattila", "--out", str(tmp_path)]) == 0


def test_derivatives_of_a_periodic_motion_are_exact() -> None:
    t = np.arange(64) / 64 * 0.5
    w = 4.0 * np.pi
    first, second = periodic_derivatives(np.sin(w * t)[:, None] ** 2, 0.5)
    np.testing.assert_allclose(first[:, 0], w * np.sin(2 * w * t), atol=1e-11)
    np.testing.assert_allclose(second[:, 0], 2 * w**2 * np.cos(2 * w * t), atol=1e-9)


def test_order_of_convergence_is_told() -> None:
    assert order(np.array([1e-1, 1e-2, 1e-4, 1e-8, 1e-16])) == pytest.approx(2.0)
    assert order(np.array([1e-1, 1e-2, 1e-3, 1e-4])) == pytest.approx(1.0)
