"""The published RH5 models load as they are, with the numbers of their papers and of Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from support.published import HERE, MODELS, REASON

from closed_loop_dynamics.model import read_description, read_urdf

if not HERE:
    pytest.skip(REASON, allow_module_level=True)

MANUS = MODELS / "rh5_manus_case_study" / "model"
REDUCED = MANUS / "submechanisms_urdf"

PAIRS = {
    "full": (MANUS / "full_urdf/RH5v2.urdf", MANUS / "full_urdf/submechanisms.yml"),
    "reduced": (REDUCED / "submechanisms_reduced.urdf", REDUCED / "submechanisms_reduced.yml"),
    "leg": (
        MODELS / "rh5_leg/rh5_single_leg_hybrid.urdf",
        MODELS / "rh5_leg/rh5_single_leg_hybrid.yml",
    ),
    "wrist": (REDUCED / "left_wrist_mechanism.urdf", REDUCED / "submechanism_wrist.yml"),
}
COUNTS = {"full": (61, 20, 20), "reduced": (23, 13, 13), "leg": (18, 6, 6), "wrist": (16, 2, 2)}


def load(name):
    urdf, yml = PAIRS[name]
    description = read_description(urdf, yml)
    return description.tree, description.submechanisms


def urdf_files():
    return sorted(MODELS.rglob("*.urdf"))


@pytest.mark.parametrize("name", PAIRS)
def test_joint_counts(name):
    tree, entries = load(name)
    for attribute, expected in zip(
        ("spanning", "independent", "active"), COUNTS[name], strict=True
    ):
        joints = [joint for entry in entries for joint in getattr(entry, attribute)]
        assert len(joints) == len(set(joints)) == expected, attribute
        assert set(joints) <= set(tree.joint_names)
    assert all(entry.place.startswith("submechanisms[") for entry in entries)  # none is implied


def test_head_couplings_come_from_the_sub_urdf_in_the_other_folder():
    _, entries = load("full")
    head = next(entry for entry in entries if entry.name == "head_joints")
    couplings = {c.joint: (c.terms, c.offset) for c in head.couplings}
    assert couplings == {
        "HeadActC": ({"HeadYaw": 1.0}, 0.0),
        "HeadActL": ({"HeadRoll": 1.0, "HeadPitch": -1.0}, 0.0),
        "HeadActR": ({"HeadRoll": -1.0, "HeadPitch": -1.0}, 0.0),
    }
    assert head.active == ("HeadActL", "HeadActR", "HeadActC")  # not the order of the tree


def test_torso_loops_of_the_full_robot():
    _, entries = load("full")
    torso = entries[0]
    assert (torso.name, torso.type) == ("torso_joint", "numerical")
    assert [(loop.cut_joint, loop.predecessor, loop.successor) for loop in torso.loops] == [
        ("BodyActL", "BodyActL_Link", "BodyRoll_Link"),
        ("BodyActR", "BodyActR_Link", "BodyRoll_Link"),
    ]
    assert [axis.axis for axis in torso.loops[0].axes] == [
        (0, 0, 0, 1, 0, 0),
        (0, 0, 0, 0, 1, 0),
        (0, 0, 0, 0, 0, 1),
    ]
    assert torso.loops[0].axes[0].baumgarte == 0.01


def test_leg_types_carry_no_loops():
    _, entries = load("leg")
    assert [entry.type for entry in entries] == ["rr", "rrpr", "rrpr", "2sprr+1u"]
    assert not any(entry.loops for entry in entries)


def test_zero_limits_of_passive_joints_are_no_limits():
    tree, _ = load("leg")
    passive = tree.bodies[tree.joint_index("LLAnkle_B11")].joint
    assert (passive.lower, passive.upper) == (-np.inf, np.inf)
    assert (passive.velocity, passive.effort) == (np.inf, np.inf)
    driven = tree.bodies[tree.joint_index("LLAnkle_Act1")].joint
    assert (driven.lower, driven.upper, driven.effort) == (-0.0449, 0.0647, 571.0)


def test_the_folder_is_not_empty():
    assert len(urdf_files()) >= 9


@pytest.mark.parametrize("path", urdf_files(), ids=lambda path: path.stem)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed base", "floating base"])
def test_bodies_agree_with_pinocchio(path, floating):
    pin = pytest.importorskip("pinocchio")
    tree = read_urdf(path, floating_base=floating)
    model = (
        pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        if floating
        else pin.buildModelFromUrdf(str(path))
    )
    assert model.njoints == len(tree.bodies) + 1
    index = [
        model.getJointId("root_joint" if name == "floating_base" else name)
        for name in tree.joint_names
    ]
    for body, i in zip(tree.bodies, index, strict=True):
        inertia = model.inertias[i]
        assert model.parents[i] == (0 if body.parent < 0 else index[body.parent])
        np.testing.assert_allclose(
            body.joint.placement, model.jointPlacements[i].homogeneous, atol=1e-12
        )
        assert body.mass == pytest.approx(inertia.mass, abs=1e-12)
        np.testing.assert_allclose(body.first_moment, inertia.mass * inertia.lever, atol=1e-12)
        if inertia.mass > 0:
            np.testing.assert_allclose(body.inertia, inertia.matrix()[3:, 3:], atol=1e-12)
    total = sum(body.mass for body in tree.bodies)
    # computeTotalMass counts what is fixed to the universe too; sum what moves instead
    assert total == pytest.approx(sum(model.inertias[i].mass for i in index), abs=1e-12)
    assert total > 0


@pytest.mark.parametrize("name", PAIRS)
def test_composite_inertia_at_zero_agrees_with_pinocchio(name):
    """Placements, axes and inertias together: the mass matrix of the tree at q = 0."""
    pin = pytest.importorskip("pinocchio")
    tree = read_urdf(PAIRS[name][0])
    model = pin.buildModelFromUrdf(str(PAIRS[name][0]))
    expected = pin.crba(model, model.createData(), pin.neutral(model))
    expected = np.triu(expected) + np.triu(expected, 1).T
    order = [model.joints[model.getJointId(joint)].idx_v for joint in tree.joint_names]
    np.testing.assert_allclose(
        mass_matrix_at_zero(tree), expected[np.ix_(order, order)], atol=1e-10
    )


def mass_matrix_at_zero(tree):
    """Sum of J^T I J over the bodies, everything written in the root frame."""
    poses, axes = [], []
    for body in tree.bodies:
        parent = np.eye(4) if body.parent < 0 else poses[body.parent]
        pose = parent @ body.joint.placement
        axis = pose[:3, :3] @ body.joint.axis
        poses.append(pose)
        if body.joint.kind == "revolute":
            axes.append(np.concatenate([axis, np.cross(pose[:3, 3], axis)]))
        else:
            axes.append(np.concatenate([np.zeros(3), axis]))
    result = np.zeros((len(axes), len(axes)))
    for i, body in enumerate(tree.bodies):
        jacobian = np.zeros((6, len(axes)))
        for j in tree.path_to_root(i):
            jacobian[:, j] = axes[j]
        result += jacobian.T @ root_inertia(body, poses[i]) @ jacobian
    return result


def root_inertia(body, pose):
    """(6, 6) spatial inertia [angular; linear] of a body, about the root's origin."""

    def skew(v):
        return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])

    h = skew(body.first_moment)
    local = np.block([[body.inertia, h], [h.T, body.mass * np.eye(3)]])
    rotation, position = pose[:3, :3], pose[:3, 3]
    to_body = np.block([[rotation.T, np.zeros((3, 3))], [-rotation.T @ skew(position), rotation.T]])
    return to_body.T @ local @ to_body
