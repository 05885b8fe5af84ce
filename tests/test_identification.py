"""Spindles identified from markers: recovered where they are known, bounded, told, saved, and refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.biomech.fit_spindle import fit_spindle
from ecorche.biomech.identification import Options, Stopped, Track, identify
from ecorche.biomech.identification_report import write_report
from ecorche.biomech.marker_distances import compare, spindles_of
from ecorche.biomech.markers_on_muscles import Markers, joint_on_path, markers_on_muscles
from ecorche.biomech.spindle_cost import Cost, OverSpindle, Residuals, corners
from ecorche.document.identified_spec import read_identified, write_identified
from ecorche.errors import DocumentError, EcorcheError
from ecorche.muscles.around_path import PathFrames
from ecorche.muscles.sigmoid_spindle import SigmoidSpindles, radius_jacobian

Floats = npt.NDArray[np.float64]

FRAMES = 60


def truth() -> Floats:
    """A spindle that shortens thicker and swells with tension."""
    made = np.zeros((9, 3))
    made[:8, 2] = np.tile([3.0, 8.0, 0.039, 0.008], 2)
    made[4, 2], made[8, 2] = 4.0, 0.5
    # its volume stays nearly what it is: shorter is thicker, and what swells one way shrinks the other
    made[[2, 6], 0], made[[2, 6], 1], made[8, 1] = -0.06, 2e-5, 1.2e-3
    return made


def motion(frames: int = FRAMES, speed: float = 1.0) -> tuple[Floats, Floats]:
    """Lengths [m] and tensions [N]."""
    t = speed * np.linspace(0.0, 9.0, frames)
    return 0.25 * (1.0 + 0.1 * np.sin(t)), 200.0 * (0.5 + 0.5 * np.sin(2.6 * t + 1.0))


def scene(
    *, count: int = 40, noise: float = 0.0, fat: float = 0.0, speed: float = 1.0, seed: int = 1
) -> tuple[list[Track], Markers]:
    """Two straight muscles 20 cm apart, the second slack, with markers all round each."""
    rng = np.random.default_rng(seed)
    lengths, tensions = motion(speed=speed)
    tracks, places = [], []
    for number in range(2):
        nodes = np.zeros((FRAMES, 3, 3))
        nodes[..., 0] = 0.2 * number
        nodes[..., 2] = np.array([0.0, 0.5, 1.0]) * lengths[:, None]
        path = PathFrames(nodes, [1.0, 0.0, 0.0], name=f"m{number}")
        tension = tensions if number == 0 else 0.0 * tensions
        tracks.append(Track(f"m{number}", path, tension, radius=0.02, fat=fat))
        along, theta = rng.uniform(0.05, 0.95, count), rng.uniform(-np.pi, np.pi, count)
        spindle = SigmoidSpindles(truth()[None], np.zeros(1, np.int64), np.ones(1))
        radius = spindle.states(lengths[:, None], tension[:, None]).radius(along, theta)[:, 0]
        places.append(path.places(along, theta, radius + fat))
    positions = np.concatenate(places, axis=1)
    return tracks, Markers(positions + rng.normal(0.0, noise, positions.shape))


def over(noise: float = 0.0, seed: int = 3) -> OverSpindle:
    rng = np.random.default_rng(seed)
    lengths, tensions = motion()
    frame = np.repeat(np.arange(FRAMES), 16)
    along = np.tile(rng.uniform(0.03, 0.97, 16), FRAMES)
    theta = np.tile(rng.uniform(-np.pi, np.pi, 16), FRAMES)
    distance, _ = radius_jacobian(truth(), lengths[frame], tensions[frame], along, theta)
    marker = np.tile(np.arange(16), FRAMES)
    measured = distance + rng.normal(0.0, noise, len(frame))
    return OverSpindle("m", lengths, tensions, frame, marker, along, theta, measured)


def with_rest(known: OverSpindle, frames: int = 3) -> OverSpindle:
    """The same with frames at rest, in which half of the markers are seen."""
    again = np.flatnonzero((known.frame < frames) & (known.marker % 2 == 0))
    return replace(
        known,
        lengths=np.append(known.lengths, known.lengths[:frames]),
        tensions=np.append(known.tensions, np.zeros(frames)),
        frame=np.append(known.frame, FRAMES + known.frame[again]),
        marker=np.append(known.marker, known.marker[again]),
        along=np.append(known.along, known.along[again]),
        theta=np.append(known.theta, known.theta[again]),
        distance=np.append(known.distance, known.distance[again]),
        rest=frames,
    )


@pytest.mark.parametrize("resting", [False, True])
def test_gradient_and_curvature_of_the_whole_cost_are_those_of_differences(resting: bool) -> None:
    known = with_rest(over(1e-3)) if resting else over(1e-3)
    triangle, _ = corners(known.lengths, known.tensions)
    residuals = Residuals(known, triangle.weights, Cost(), 0.4)
    squares = Residuals(known, triangle.weights, Cost(outlier=np.inf), 0.4)
    at = residuals.start() * np.random.default_rng(5).uniform(0.8, 1.2, 28)
    slopes, gradient = [], []
    for n in range(28):
        step = 1e-6 * max(abs(float(at[n])), 1e-3)
        up, down = at.copy(), at.copy()
        up[n] += step
        down[n] -= step
        apart = [np.concatenate(squares.residuals(u)) for u in (up, down)]
        slopes.append((apart[0] - apart[1]) / (2.0 * step))
        gradient.append((residuals.value(up) - residuals.value(down)) / (2.0 * step))
    found = residuals.normal(at)
    assert found.cost == pytest.approx(residuals.value(at), rel=1e-12)
    np.testing.assert_allclose(found.gradient, gradient, atol=1e-6 * np.abs(gradient).max())
    jacobian = np.stack(slopes, axis=1)
    product = jacobian.T @ jacobian
    np.testing.assert_allclose(squares.normal(at).curvature, product, atol=1e-7 * np.abs(product).max())


def test_the_loss_is_the_square_near_and_the_distance_far() -> None:
    residuals = Residuals(over(), np.ones((FRAMES, 1)), Cost(outlier=0.002), 0.0)
    edge = 0.002 / residuals.reference
    squares = np.array([(1e-3 * edge) ** 2, (1e3 * edge) ** 2])
    value, _, _ = residuals.loss(squares)
    assert value[0] == pytest.approx(squares[0], rel=1e-6)
    assert value[1] == pytest.approx(2.0 * 1e3 * edge**2, rel=2e-3)
    squares = np.linspace(0.1, 9.0, 40) * edge**2
    slope, step = residuals.loss(squares)[1], 1e-5 * squares
    numeric = (residuals.loss(squares + step)[0] - residuals.loss(squares - step)[0]) / (2.0 * step)
    np.testing.assert_allclose(slope, numeric, rtol=1e-6)


def test_the_unknowns_are_values_at_corners_of_a_triangle_round_all_that_is_seen() -> None:
    lengths, tensions = motion()
    triangle, notes = corners(lengths, tensions)
    assert notes == ()
    assert triangle.weights.min() >= 0.0  # so bounds at the corners hold in every frame
    np.testing.assert_allclose(triangle.weights.sum(axis=1), 1.0, atol=1e-14)
    unknowns = np.random.default_rng(6).normal(size=(9, 3))
    alpha, beta, gamma = (unknowns @ triangle.terms).T
    direct = alpha * lengths[:, None] + beta * tensions[:, None] + gamma
    np.testing.assert_allclose(direct, triangle.weights @ unknowns.T, atol=1e-12)


def test_a_spindle_seen_without_noise_is_found_again() -> None:
    known = over()
    free = Cost(volume=0.0, tendon=0.0, seam=0.0, lasting=1.0)
    fit = fit_spindle(known, free)
    assert fit.bare_after < 2e-5
    assert fit.bare_after < 0.02 * fit.bare_before
    assert fit.after < 2e-5
    # and where there was no marker too
    rng = np.random.default_rng(7)
    frame = rng.integers(0, FRAMES, 300)
    along, theta = rng.uniform(0.1, 0.9, 300), rng.uniform(-np.pi, np.pi, 300)
    args = known.lengths[frame], known.tensions[frame], along
    found, _ = radius_jacobian(fit.coefficients, *args, theta - fit.turn)
    true, _ = radius_jacobian(truth(), *args, theta)
    assert np.abs(found - true).mean() < 2e-4


def test_the_fit_does_not_depend_on_the_unit_of_the_body() -> None:
    """A body a hundred times as large, as strong as its areas, has the same shape that much larger."""
    known, size = over(5e-4), 100.0
    large = replace(
        known,
        lengths=size * known.lengths,
        tensions=size**2 * known.tensions,
        distance=size * known.distance,
    )
    small_fit = fit_spindle(known, Cost())
    large_fit = fit_spindle(large, Cost(tendon_radius=0.01 * size, outlier=0.002 * size))
    assert large_fit.after == pytest.approx(size * small_fit.after, rel=1e-3)
    assert large_fit.volume == pytest.approx(small_fit.volume, rel=1e-2, abs=1e-4)


def test_a_heavier_volume_keeps_the_volume_better() -> None:
    known = over(5e-4)
    spread = [fit_spindle(known, Cost(volume=weight)).volume for weight in (0.0, 1.0, 100.0, 1e4)]
    assert spread[3] < 0.2 * spread[0]
    assert spread[1] >= spread[2] >= spread[3]


def test_tendon_and_seam_are_met() -> None:
    fit = fit_spindle(over(5e-4), Cost(tendon=1e4, seam=1e4, tendon_radius=0.007))
    lengths, tensions = motion()
    states = SigmoidSpindles(fit.coefficients[None], np.zeros(1, np.int64), np.ones(1)).states(
        lengths[:, None], tensions[:, None]
    )
    assert not states.held.any()
    np.testing.assert_allclose(states.radius([0.0, 1.0], [0.0, 0.0]), 0.007, atol=2e-4)
    assert states.seam.max() < 1e-4
    assert fit.seam == pytest.approx(float(states.seam.max()), abs=1e-6)


def test_markers_astray_do_not_lead_the_muscle_astray() -> None:
    known = over(2e-4)
    astray = known.distance.copy()
    astray[::16] += 0.02  # one marker of sixteen lies on something else
    wrong = replace(known, distance=astray)
    others = np.arange(len(astray)) % 16 != 0
    away = []
    for cost in (Cost(outlier=np.inf), Cost()):
        fit = fit_spindle(wrong, cost)
        radius, _ = radius_jacobian(
            fit.coefficients, wrong.lengths[wrong.frame], wrong.tensions[wrong.frame], wrong.along,
            wrong.theta - fit.turn,
        )  # fmt: skip
        away.append(float(np.abs(radius - known.distance)[others].mean()))
    assert away[1] < 0.6 * away[0]


def test_both_muscles_are_identified_and_serve_a_motion_not_used() -> None:
    tracks, markers = scene(noise=1e-3, count=60)
    found = identify(tracks, markers)
    assert list(found.spindles) == ["m0", "m1"]
    first, second = found.spindles.values()
    assert first.after < 0.9 * first.before
    assert "hardly varies" not in " ".join(first.notes)
    assert second.notes == ("its tension hardly varies: how it changes the shape is not known",)
    assert all(terms[1] == 0.0 for terms in second.coefficients.values())
    new_tracks, new_markers = scene(noise=1e-3, count=60, speed=0.83, seed=1)
    compared = compare(found, new_tracks, new_markers)
    assert compared.names == ("m0", "m1")
    assert not compared.held.any()
    assert compared.gain > 0.08
    # the noise alone is 0.8 mm
    assert np.abs(compared.identified).mean() < 1.05e-3


def test_bounds_hold_at_every_length_and_tension_seen() -> None:
    tracks, markers = scene(noise=4e-3, count=12, seed=8)
    found = identify(tracks, markers)
    for name, spindle in found.spindles.items():
        track = next(t for t in tracks if t.name == name)
        states = spindles_of(found, [name]).states(track.length[:, None], track.tension[:, None])
        assert not states.held.any()
        assert states.values[..., 8].min() >= 0.0
        assert states.values[..., 8].max() < 1.0
        assert spindle.markers > 27


def test_fat_lies_between_spindle_and_marker() -> None:
    bare_tracks, bare = scene()
    fat_tracks, fat = scene(fat=0.005)
    one, other = identify(bare_tracks, bare), identify(fat_tracks, fat)
    t, theta = np.linspace(0.1, 0.9, 9), np.linspace(-2.0, 2.0, 9)
    state = np.full((1, 2), 0.25), np.array([[100.0, 0.0]])
    radii = [spindles_of(found).states(*state).radius(t, theta) for found in (one, other)]
    assert np.abs(radii[0] - radii[1]).mean() < 3e-4
    assert np.abs(compare(other, fat_tracks, fat).identified).mean() < 5e-4


def test_a_marker_counts_for_the_muscle_beneath_it_only_and_the_nearest_of_a_segment() -> None:
    tracks, markers = scene(count=50)
    found = markers_on_muscles([t.path for t in tracks], markers, 0.02, per_segment=3)
    assert set(found.spindle[found.marker < 50].tolist()) == {0}
    assert set(found.spindle[found.marker >= 50].tolist()) == {1}
    # two muscles of two segments, three markers each, in every frame
    assert len(found.frame) == 2 * 2 * 3 * FRAMES
    everything = markers_on_muscles([t.path for t in tracks], markers, 0.02, per_segment=99)
    for segment in (0, 1):
        own = (
            (everything.spindle == 0) & (everything.frame == 7) & ((everything.along > 0.5) == bool(segment))
        )
        few = (found.spindle == 0) & (found.frame == 7) & ((found.along > 0.5) == bool(segment))
        np.testing.assert_allclose(np.sort(everything.distance[own])[:3], np.sort(found.distance[few]))


def test_what_was_not_seen_does_not_count() -> None:
    tracks, markers = scene()
    seen = np.ones(markers.positions.shape[:2], np.bool_)
    seen[10:20, ::2] = False
    holes = np.where(seen[..., None], markers.positions, np.nan)
    found = markers_on_muscles([t.path for t in tracks], Markers(holes, seen), 0.02)
    assert not (~seen[found.frame, found.marker]).any()


def test_processes_give_the_same_bytes_and_are_told_of(tmp_path: Path) -> None:
    tracks, markers = scene(noise=1e-3, count=20)
    told: list[tuple[int, int, str]] = []
    for workers in (1, 2):
        found = identify(tracks, markers, Options(workers=workers), progress=lambda *step: told.append(step))
        write_identified(tmp_path / f"{workers}.json", found)
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()
    assert [step[:2] for step in told] == [(1, 2), (2, 2)] * 2
    assert {step[2] for step in told} == {"m0", "m1"}


def test_it_can_be_stopped() -> None:
    tracks, markers = scene(count=20)
    stop = Event()
    with pytest.raises(Stopped, match="stopped after 1 of 2 muscles"):
        identify(tracks, markers, progress=lambda *_: stop.set(), stop=stop)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        identify(tracks, markers, Options(workers=1), progress=interrupt)


def test_the_document_is_read_back_and_fits_a_larger_body(tmp_path: Path) -> None:
    tracks, markers = scene(noise=1e-3, count=20)
    found = identify(tracks, markers, subject="somebody")
    write_identified(tmp_path / "somebody.json", found)
    again = read_identified(tmp_path / "somebody.json")
    assert again == found
    large = again.scaled(1.2)
    state = np.array([[0.25, 0.25]]), np.array([[90.0, 0.0]])
    t, theta = np.linspace(0.0, 1.0, 7), np.linspace(0.0, 3.0, 7)
    np.testing.assert_allclose(
        spindles_of(large).states(1.2 * state[0], 1.44 * state[1]).radius(t, theta),
        1.2 * spindles_of(again).states(*state).radius(t, theta),
        rtol=1e-12,
    )
    assert large.spindles["m0"].lengths[1] == pytest.approx(1.2 * again.spindles["m0"].lengths[1])
    assert again.scaled({"m0": 1.2, "m1": 1.0}).spindles["m1"] == again.spindles["m1"]
    with pytest.raises(EcorcheError, match="no size is given for the muscle 'm1'"):
        again.scaled({"m0": 1.2})
    with pytest.raises(EcorcheError, match="m0: a size or strength is not a positive number"):
        again.scaled(0.0)


def test_damaged_documents_are_refused(tmp_path: Path) -> None:
    tracks, markers = scene(count=20)
    write_identified(tmp_path / "good.json", identify(tracks, markers))
    good = (tmp_path / "good.json").read_text()
    for old, new, message in (
        ('"eccentricity"', '"excentricity"', "is none of the choices"),
        ('"share": 1.0', '"share": 2.0', "2.0 is not at most 1"),
        ('"version": 1', '"version": 7', "7 is none of the choices"),
        ('"frames": 60', '"frames": "60"', "is not a whole number"),
        ('"muscle": "m1"', '"muscle": "m0"', "the spindles of 'm0' bear 2 times its tension"),
        ('"fat": 0.0', '"fat": -1.0', "-1.0 is not at least 0"),
    ):
        assert old in good
        (tmp_path / "bad.json").write_text(good.replace(old, new))
        with pytest.raises(DocumentError, match=message):
            read_identified(tmp_path / "bad.json")


def test_bad_markers_are_refused_in_words() -> None:
    tracks, markers = scene(count=20)
    holes = markers.positions.copy()
    holes[3, 5, 1] = np.nan
    with pytest.raises(
        EcorcheError, match=r"marker 5, frame 3: its position is not a finite number \(1 such"
    ):
        Markers(holes)
    with pytest.raises(EcorcheError, match=r"the markers have shape \(3, 3\)"):
        Markers(np.zeros((3, 3)))
    with pytest.raises(EcorcheError, match=r"which markers are seen has shape \(2,\)"):
        Markers(markers.positions, np.ones(2, np.bool_))
    far = Markers(markers.positions + 5.0)
    with pytest.raises(EcorcheError, match=r"no marker lies on any muscle.*unit"):
        identify(tracks, far)
    millimetres = Markers(1000.0 * markers.positions)
    with pytest.raises(EcorcheError, match=r"no marker lies on any muscle.*metres"):
        identify(tracks, millimetres)
    with pytest.raises(EcorcheError, match="muscle 'm0': its path has 60 frames and the markers have 59"):
        identify(tracks, Markers(markers.positions[1:]))


def test_muscles_with_too_few_markers_are_left_out_by_name() -> None:
    tracks, markers = scene(count=20)
    few = Markers(markers.positions[:, :22])  # two are left on the second muscle
    found = identify(tracks, few)
    assert list(found.spindles) == ["m0"]
    assert found.left_out["m1"].startswith("too few markers lie on it: 2,")
    with pytest.raises(
        EcorcheError, match=r"none of the 2 muscles could be identified \(m0: too few markers"
    ):
        identify(tracks, Markers(markers.positions[:, [0, 1, 20, 21]]))
    thick = [replace(track, fat=0.05) for track in tracks]
    with pytest.raises(
        EcorcheError, match=r"markers lie nearer to its path than its fat of 0\.05 m is thick"
    ):
        identify(thick, markers)


def test_a_path_through_a_joint_s_centre_is_left_out() -> None:
    tracks, markers = scene(count=20)
    centres = np.zeros((FRAMES, 2, 3))
    centres[:, 0] = [0.0, 0.05, 0.1]  # beside the first muscle
    centres[:, 1] = [0.2, 0.0, 0.1]  # within the second
    assert joint_on_path(tracks[0].path, centres) is None
    found = identify(tracks, markers, joint_centres=centres)
    assert list(found.spindles) == ["m0"]
    assert "runs through the centre of joint 1 in frame 0" in found.left_out["m1"]


def test_impossible_tracks_are_refused() -> None:
    tracks, markers = scene(count=20)
    path, tension = tracks[0].path, tracks[0].tension
    nan = tension.copy()
    nan[4] = np.nan
    for change, message in (
        ({"tension": nan}, "muscle 'm0': its tension is not one finite number a frame"),
        ({"tension": tension[1:]}, r"its tension is not one finite number a frame \(shape \(59,\)\)"),
        ({"lengths": 0.0 * tension}, "a length of it is not positive"),
        ({"fat": -0.1}, "fat -0.1 or share 1.0 is not possible"),
        ({"share": 0.0}, "its share in the muscle's tension is 0.0"),
    ):
        with pytest.raises(EcorcheError, match=message):
            replace(tracks[0], **change)
    with pytest.raises(EcorcheError, match="there are no muscles to identify"):
        identify([], markers)
    with pytest.raises(EcorcheError, match="two muscles are called 'm0'"):
        identify([tracks[0], Track("m0", path, tension)], markers)
    with pytest.raises(EcorcheError, match="at least 1 marker"):
        identify(tracks, markers, Options(per_segment=0))
    found = identify(tracks, markers)
    with pytest.raises(EcorcheError, match="the muscle 'm9' was not identified"):
        spindles_of(found, ["m9"])


def test_a_few_sculpted_frames_are_enough() -> None:
    """Vertices of skins that a modeller made are markers like any other."""
    tracks, markers = scene(count=80)
    some = [3, 17, 29, 44, 58]
    few = [
        replace(t, path=PathFrames(t.path.nodes[some], [1.0, 0.0, 0.0]), tension=t.tension[some])
        for t in tracks
    ]
    found = identify(few, Markers(markers.positions[some]), Options(per_segment=30))
    assert found.frames == 5
    compared = compare(found, tracks, markers, Options(per_segment=30))
    tense = compared.assigned.spindle == 0
    away, still = (np.abs(d[tense]).mean() for d in (compared.identified, compared.undeformed))
    assert away < 0.5 * still


def test_over_a_skin_as_at_rest_only_what_changed_counts() -> None:
    """Fat that differs from place to place is measured at rest and no error after it."""
    tracks, markers = scene(count=60)
    found = identify(tracks, markers)
    bumps = 0.004 * np.sin(np.arange(120.0))  # fat here, none there

    def covered(given: list[Track], over_them: Markers) -> Markers:
        places = over_them.positions.copy()
        for number, track in enumerate(given):
            own = slice(60 * number, 60 * number + 60)
            around = track.path.around(places[:, own])
            places[:, own] = track.path.places(
                around.along, around.theta, around.distance + bumps[own] + 0.005
            )
        return Markers(places)

    still = [
        replace(
            t, path=PathFrames(np.repeat(t.path.nodes[:1], 4, axis=0), [1.0, 0.0, 0.0]), tension=np.zeros(4)
        )
        for t in tracks
    ]
    spindle = SigmoidSpindles(truth()[None], np.zeros(1, np.int64), np.ones(1))
    rng = np.random.default_rng(1)
    places = []
    for track in still:  # the same markers as `scene` puts there, on slack muscles
        along, theta = rng.uniform(0.05, 0.95, 60), rng.uniform(-np.pi, np.pi, 60)
        radius = spindle.states(track.length[:, None], np.zeros((4, 1))).radius(along, theta)[:, 0]
        places.append(track.path.places(along, theta, radius))
    rest = covered(still, Markers(np.concatenate(places, axis=1)))
    worn = covered(tracks, markers)
    bare = compare(found, tracks, worn)
    over_rest = compare(found, tracks, worn, at_rest=(still, rest))
    assert np.abs(bare.identified).mean() > 3e-3
    assert np.abs(over_rest.identified).mean() < 4e-4
    assert over_rest.gain > 0.5
    with pytest.raises(EcorcheError, match="m1: at rest the muscle is missing"):
        compare(found, tracks, worn, at_rest=(still[:1], rest))


def test_lasting_distances_do_not_hide_what_changes() -> None:
    known, clean = over(3e-4), over()
    uneven = replace(
        known, distance=known.distance + np.tile(0.006 * np.sin(np.arange(16.0)) + 0.004, FRAMES)
    )
    left = []
    for lasting in (1.0, 0.1):
        fit = fit_spindle(uneven, Cost(lasting=lasting, outlier=np.inf))
        radius, _ = radius_jacobian(
            fit.coefficients, known.lengths[known.frame], known.tensions[known.frame], known.along,
            known.theta - fit.turn,
        )  # fmt: skip
        change = (radius - clean.distance).reshape(FRAMES, 16)
        left.append(float(np.abs(change - change.mean(axis=0)).mean()))
    assert left[1] < 0.8 * left[0]


def test_the_report_is_one_page_that_names_every_muscle(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    tracks, markers = scene(noise=1e-3, count=20)
    markers = Markers(markers.positions[:, :22])
    found = identify(tracks, markers, subject="a <person>")
    write_report(tmp_path / "a.html", found, {"the motion itself": compare(found, tracks, markers)})
    write_report(tmp_path / "b.html", found, {"the motion itself": compare(found, tracks, markers)})
    page = (tmp_path / "a.html").read_text()
    assert (tmp_path / "b.html").read_text() == page
    for word in (
        "a &lt;person&gt;",
        ">m0<",
        ">m1<",
        "too few markers",
        "The mean falls by",
        "data:image/png",
    ):
        assert word in page
    assert page.count("<img") == 3
    assert "http" not in page
