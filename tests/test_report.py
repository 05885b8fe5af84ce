"""The page of a motion's results: what it shows, and that in a browser everything follows the slider."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import skip_or_fail
from ecorche.base.recordings import ForceRecording
from ecorche.biomech.gait import gait_cycle, gait_events
from ecorche.biomech.muscle_groups import OTHERS, muscle_group
from ecorche.biomech.result_panels import Curve, Panel
from ecorche.cli.main import app
from ecorche.io.external_loads import read_external_loads
from ecorche.io.opensim_storage import read_table, write_storage, write_table
from ecorche.render.plot_svg import LEFT, RIGHT, WIDTH, TimeAxis, plot
from osim_models import opensim_package

EMG = "channel,muscle,side\nsoleus,soleus,right\ntibialis_anterior,tibant,right\n"
DRIVE = """<script>
const told = [];
function look() {
  const cursors = [...document.querySelectorAll(".cursor")].map((c) => c.getAttribute("transform"));
  told.push({
    cursors: [...new Set(cursors)],
    pictures: strips.map((some) => some.map((p) => getComputedStyle(p).visibility).indexOf("visible")),
    values: outputs.map((o) => o.textContent),
    now: now.textContent,
  });
}
for (const at of [0, 50, 100]) {
  slider.value = at;
  slider.dispatchEvent(new Event("input"));
  look();
}
// a hand on a plot, at three quarters of its axis
const plot = document.querySelector(".plot");
const box = plot.getBoundingClientRect();
const clientX = box.left + (box.width * (LEFT + 0.75 * INNER)) / WIDTH;
plot.dispatchEvent(new PointerEvent("pointerdown", { clientX, clientY: box.top + 9, bubbles: true }));
look();
document.querySelector('[data-kind="left"]').click();
told.push(getComputedStyle(document.querySelector(".plot .curve.left")).display);
told.push(document.documentElement.scrollWidth <= innerWidth);
document.body.innerHTML = "<pre id=told></pre>";
document.getElementById("told").textContent = JSON.stringify(told);
</script>"""


def _run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_steps_of_a_measured_walk(data: Path) -> None:
    forces = read_external_loads(data / "walk" / "grf_walk.xml").forces
    events = gait_events(forces)
    assert [(event.foot[-1], event.kind) for event in events] == [
        ("r", "heel strike"),
        ("l", "heel strike"),
        ("r", "toe off"),
        ("r", "heel strike"),
        ("l", "toe off"),
        ("r", "toe off"),
    ]
    cycle = gait_cycle(events, 0.0, 2.0)
    assert cycle is not None
    assert cycle.foot == "calcn_r"
    assert [cycle.start, cycle.end] == pytest.approx([0.267, 1.4115])
    assert gait_cycle(events, 0.3, 2.0) is None
    # a lower threshold cannot make a foot land later
    assert gait_events(forces, 5.0)[0].time <= events[0].time


def test_a_foot_on_the_ground_at_both_ends_and_a_blow_are_no_steps() -> None:
    times = np.arange(200) / 100.0
    force = np.zeros((200, 3))
    force[:50, 1] = force[150:, 1] = 700.0
    force[100:104, 1] = 900.0  # 40 ms
    events = gait_events([ForceRecording("plate", times, force, 0.0 * force, 0.0 * force, "foot_r")])
    assert [(e.kind, e.time) for e in events] == [("toe off", 0.5), ("heel strike", 1.5)]


def test_muscles_by_the_names_of_models_have_their_groups(data: Path) -> None:
    groups = {muscle_group(f"{name}_r") for name in ("soleus", "gasmed", "gaslat")}
    assert groups == {"ankle plantarflexors"}
    assert muscle_group("iliacus_l") == "hip flexors"
    assert muscle_group("whatever") == OTHERS
    text = (data / "walk" / "subject_walk_scaled.osim").read_text()
    names = set(re.findall(r'Muscle name="(\w+_r)"', text))
    assert len(names) == 40
    assert OTHERS not in {muscle_group(name) for name in names}


def test_a_plot_has_a_gap_where_there_is_no_number_and_escapes_names() -> None:
    values = np.array([0.0, 1.0, np.nan, 0.5])
    drawn = plot(Panel("a < b", "force [N]", (Curve("x", "right", values),)), TimeAxis("time [s]", 0.0, 3.0))
    (path,) = re.findall(r'class="curve right" d="([^"]+)"', drawn)
    assert path.count("M") == 2
    assert "nan" not in drawn
    assert "a &lt; b" in drawn
    assert "force [N]" in drawn
    assert "time [s]" in drawn


@pytest.fixture(scope="module")
def page(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A walking cycle on a person: measured coordinates and forces, activations made up."""
    pytest.importorskip("pyvista")
    folder = tmp_path_factory.mktemp("page")
    walk, solved = data / "walk", folder / "walked"
    solved.mkdir()
    measured = read_table(walk / "coordinates.sto")
    # from 0.45 s on it was measured: before, held
    times = np.linspace(0.25, 1.45, 61)
    short = {
        name.split("/")[-2]: np.interp(times, measured.times, column)
        for name, column in measured.columns.items()
        if name.endswith("/value") and "_beta" not in name
    }
    write_table(solved / "coordinates.sto", "Coordinates", times, short)
    curves = {name: 0.5 + 0.5 * np.sin(9.0 * times + k) for k, name in enumerate(("soleus_r", "soleus_l"))}
    curves["tibant_r"] = np.linspace(0.0, 1.0, len(times))
    write_storage(solved / "activations.sto", "activations", times, curves)
    moments = {"knee_angle_r_moment": np.full(len(times), 40.0), "ankle_angle_r_moment": 60.0 * times}
    reserves = {"knee_angle_r_reserve": np.full(len(times), 10.0), "ankle_angle_r_reserve": 0.0 * times}
    write_table(solved / "moments.sto", "Moments", times, moments)
    write_table(solved / "reserves.sto", "Reserves", times, reserves)
    (folder / "emg.csv").write_text(EMG)
    rig = folder / "man.ecorche"
    _run("rig", data / "human" / "male_average_cmu_mb.glb", "-o", rig)
    with opensim_package(folder):
        told = _run(
            "report", solved, "--model", walk / "subject_walk_scaled.osim", "--character", rig,
            "--forces", walk / "grf_walk.xml", "--emg", walk / "electromyography.sto",
            "--emg-table", folder / "emg.csv", "--pictures", 3, "--size", "96x160",
            "-o", folder / "page.html",
        )  # fmt: skip
    assert "look: Reserves above 5% of the peak moment: knee_angle_r 25%" in told
    return folder / "page.html"


def test_the_page_needs_nothing_beside_itself_and_says_what_it_shows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert page.stat().st_size < 6_000_000
    assert not re.search(r'(src|href)="(?!data:)|url\((?!#)|https?://|@import', text)
    assert "one walking cycle, heel strike to heel strike of calcn_r, from 0.27 to 1.41 s" in text
    assert "gait cycle, right [%]" in text
    assert text.count("<img ") == 6
    assert "reserve right 25% of peak" in text
    assert "walked has no marker_errors.sto: it is not shown" in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
    assert all(len(curve) == 101 for curve in data["curves"])
    # every axis has a unit
    labels = set(re.findall(r'class="label mid"[^>]*>([^<]+)<', text))
    assert all(re.search(r"\[.+\]$", label) for label in labels), labels


def test_everything_follows_the_slider_in_a_browser(page: Path, tmp_path: Path) -> None:
    browser = (
        os.environ.get("ECORCHE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )
    if browser is None:
        skip_or_fail("no Chromium: install it or set ECORCHE_CHROMIUM")
    driven = tmp_path / "driven.html"
    driven.write_text(
        page.read_text(encoding="utf-8").replace("</body>", DRIVE + "</body>"), encoding="utf-8"
    )
    told = _told_by(str(browser), driven, tmp_path, "1280,800")
    start, middle, end, pointed = told[:4]
    span = WIDTH - LEFT - RIGHT
    for look, share in ((start, 0.0), (middle, 0.5), (end, 1.0), (pointed, 0.75)):
        (moved,) = look["cursors"]  # all plots have the same one
        assert float(re.findall(r"[\d.]+", moved)[0]) == pytest.approx(LEFT + share * span, abs=0.02)
    assert [look["pictures"] for look in (start, middle, end)] == [[0, 0], [1, 1], [2, 2]]
    assert start["now"] == "0 % of the cycle, 0.27 s"
    assert end["now"] == "100 % of the cycle, 1.41 s"
    assert "0.49" in middle["values"]  # tibant_r, which rises evenly from 0.25 to 1.45 s
    assert start["values"] != middle["values"]
    assert told[4] == "none"  # left curves can be put away
    assert told[5], "wider than the window"
    assert _told_by(str(browser), driven, tmp_path, "500,900")[5], "wider than a phone"


def _told_by(browser: str, file: Path, folder: Path, size: str) -> list[Any]:
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", f"--window-size={size}",
         f"--user-data-dir={folder / 'chromium'}", "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    found = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, re.S)
    assert found is not None, done.stderr[-2000:]
    answers: list[Any] = json.loads(found[1])
    return answers


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "-o", "page.html"], "is no folder"),
        (["empty", "-o", "page.html"], "has no coordinates.sto"),
        (["empty", "-o", "page.pdf"], "is no page"),
        (["empty", "-o", "page.html", "--emg", "e.sto"], "a recording and its table belong together"),
        (["empty", "-o", "page.html", "--radius", "0.3"], "there is no focus"),
    ],
)
def test_what_is_half_said_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Path, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "arm.xml").write_text('<mujoco><worldbody><body><geom size="1"/></body></worldbody></mujoco>')
    done = CliRunner().invoke(app, ["report", *arguments, "--model", "arm.xml"])
    assert done.exit_code == 2
    assert message in " ".join((done.output + str(done.exception or "")).split())
    assert not (tmp_path / "page.html").exists()
