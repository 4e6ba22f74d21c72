"""Mutated URDF and YAML texts: whatever the damage, only ClosedLoopError may escape.

Structured damage (one value, element or key replaced by something nasty) finds missing checks,
random damage (bytes, lines) finds unhandled syntax. A mutant that still loads must be consistent.
"""

from __future__ import annotations

import random
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.damage import COUNT, NASTY_TEXT, mutate

from closed_loop_dynamics.errors import ClosedLoopError
from closed_loop_dynamics.model import read_submechanisms, read_urdf
from closed_loop_dynamics.model.urdf.transmissions import read_transmissions

URDF = """<?xml version="1.0"?>
<robot name="fuzz">
  <link name="base"/>
  <link name="a"><inertial><origin xyz="0.1 0 0" rpy="0.1 0.2 0.3"/><mass value="1.5"/>
    <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="b"><inertial><mass value="0.5"/></inertial></link>
  <link name="tip"/><link name="c"/><link name="d"/>
  <joint name="crank" type="revolute"><origin xyz="0 0 1" rpy="0 0 1"/><parent link="base"/>
    <child link="a"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="2" velocity="3"/></joint>
  <joint name="rod" type="continuous"><parent link="a"/><child link="b"/></joint>
  <joint name="weld" type="fixed"><origin xyz="1 0 0"/><parent link="b"/><child link="tip"/></joint>
  <joint name="rocker" type="revolute"><parent link="base"/><child link="c"/></joint>
  <joint name="slide" type="prismatic"><parent link="c"/><child link="d"/>
    <mimic joint="rocker" multiplier="0.5" offset="0.1"/></joint>
  <transmission name="t"><type>MultiJointLinearTransmission</type>
    <joint name="rod"><depends_on joint="crank" multiplier="2" offset="0.5"/></joint>
  </transmission>
</robot>
"""
YAML = """submechanisms:
- name: four_bar
  contextual_name: leg
  type: NUMERICAL
  file_path: leg.urdf
  solver: auto
  jointnames: [crank, rod, weld, rocker, slide]
  jointnames_spanningtree: [crank, rod, rocker, slide]
  jointnames_independent: [crank]
  jointnames_active: [crank]
  reference: {crank: 0.5}
  actuators: {crank: {viscous_friction: 0.1, coulomb_friction: 0.2, rotor_inertia: 1.0e-4}}
  couplings:
  - {joint: rod, terms: {crank: 2.0}, offset: 0.1}
  loop_constraints:
  - cut_joint: rod
    predecessor_body: tip
    successor_body: c
    constraint_axes:
    - {name: tx, axis: [0, 0, 0, 1, 0, 0], baumgarte_stabilization_parameter: 0.01}
  - predecessor_body: tip
    successor_body: c
    predecessor_frame: {xyz: [0, 0, 0.1], rpy: [0, 0, 0]}
    successor_frame: {xyz: [0, 0, 0.1]}
    cut: revolute
    axis: [0, 1, 0]
version: 1
"""
NASTY_VALUE = [
    *(None, True, False, 0, -1, 1, 10**400, -(10**400), 1e308, 1e-320, 0.5, "", " ", "x", "crank"),
    *(float("nan"), float("inf"), float("-inf"), [], {}, [[]], [None], {"a": 1}, {1: 2}, {None: 0}),
    *("1e5", "nan", "base", "revolute", "RR", "TRANSMISSION", "rrPr", "auto", [0] * 6, [1e300] * 6),
    *(["crank"], ["crank", "crank"], {"crank": 1}, {"rod": {}}, [{"joint": "rod"}], "\x85", "a\nb"),
]

TREE = read_urdf(URDF)
SETTINGS = settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def try_urdf(text):
    """Load, or fail properly; return whether it loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            tree = read_urdf(text)
        except ClosedLoopError as error:
            assert str(error) and len(str(error)) < 20_000
            return False
        assert len(set(tree.joint_names)) == len(tree.bodies)
        for i, body in enumerate(tree.bodies):
            assert -1 <= body.parent < i
            assert np.isfinite(body.joint.placement).all() and np.isfinite(body.inertia).all()
            assert np.isfinite(body.first_moment).all() and body.mass >= 0
            assert body.joint.has_quaternion or np.isclose(np.linalg.norm(body.joint.axis), 1)
            assert body.joint.lower <= body.joint.upper
        try_yaml(None, tree)
    return True


def try_yaml(source, tree=TREE):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            entries = read_submechanisms(source, tree)
        except ClosedLoopError as error:
            assert str(error) and len(str(error)) < 20_000
            return False
    spanning = [joint for entry in entries for joint in entry.spanning]
    assert sorted(spanning) == sorted(tree.joint_names)  # each joint exactly once
    assert len({entry.name for entry in entries}) == len(entries)
    for entry in entries:
        assert entry.independent and set(entry.independent) <= set(entry.spanning)
        assert set(entry.active) <= set(entry.spanning)
        coupled = {coupling.joint for coupling in entry.couplings}
        assert not coupled & set(entry.independent)
        for coupling in entry.couplings:
            assert not coupled & set(coupling.terms)
            assert np.isfinite([*coupling.terms.values(), coupling.offset]).all()
        for loop in entry.loops:
            axes = np.array([axis.axis for axis in loop.axes])
            assert np.allclose(np.linalg.norm(axes, axis=1), 1)
            assert np.linalg.matrix_rank(axes, tol=1e-9) == len(axes)
    return True


def test_the_seeds_are_valid():
    assert try_urdf(URDF)
    assert try_yaml(YAML)


def test_every_attribute_replaced_by_every_nasty_text():
    outcomes = set()
    root = ElementTree.fromstring(URDF)
    for element in root.iter():
        for key, good in list(element.attrib.items()):
            for value in NASTY_TEXT:
                element.set(key, value)
                text = ElementTree.tostring(root, encoding="unicode")
                outcomes.add(try_urdf(text))
                try_transmissions(text)
            element.set(key, good)
    assert outcomes == {True, False}


def try_transmissions(text):
    try:
        for coupling in read_transmissions(text):
            assert np.isfinite([*coupling.terms.values(), coupling.offset]).all()
    except ClosedLoopError:
        pass


@pytest.mark.parametrize("change", ["delete", "duplicate", "rename", "hoist", "no attributes"])
def test_every_element_damaged(change):
    count = len(list(ElementTree.fromstring(URDF).iter()))
    for i in range(1, count):
        root = ElementTree.fromstring(URDF)
        element = list(root.iter())[i]
        parent = next(each for each in root.iter() if element in list(each))
        if change == "delete":
            parent.remove(element)
        elif change == "duplicate":
            parent.append(element)
        elif change == "rename":
            element.tag = "joint" if element.tag != "joint" else "link"
        elif change == "hoist":
            parent.remove(element)
            root.append(element)
        else:
            element.attrib.clear()
        text = ElementTree.tostring(root, encoding="unicode")
        try_urdf(text)
        try_transmissions(text)


def paths(value, here=()):
    """All key paths of nested lists and mappings."""
    yield here
    if isinstance(value, (dict, list)):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(child, (*here, key))


def replaced(path, change):
    """YAML text with the container and key at ``path`` handed to ``change``."""
    data = yaml.safe_load(YAML)
    container = data
    for key in path[:-1]:
        container = container[key]
    change(container, path[-1])
    return yaml.safe_dump(data, allow_unicode=True) + "\n"


ALL_PATHS = [path for path in paths(yaml.safe_load(YAML)) if path]


def test_every_yaml_value_replaced_by_nasty_values():
    rng = random.Random(0)
    outcomes = set()
    for path in ALL_PATHS:
        for value in rng.sample(NASTY_VALUE, 9):  # all of them take a minute

            def put(container, key, value=value):
                container[key] = value

            outcomes.add(try_yaml(replaced(path, put)))
    assert outcomes == {True, False}


def test_every_yaml_key_deleted_renamed_or_doubled():
    def delete(container, key):
        del container[key]

    def rename(container, key):
        if isinstance(container, dict):
            container[str(key)[:-1] + "x"] = container.pop(key)

    def double(container, key):
        if isinstance(container, list):
            container.append(container[key])
        else:
            container[key] = [container[key], container[key]]

    for path in ALL_PATHS:
        for change in (delete, rename, double):
            try_yaml(replaced(path, change))


@pytest.mark.parametrize("seed", range(4))
def test_random_damage(seed):
    rng = random.Random(seed)
    for _ in range(COUNT):
        urdf, yml = URDF, YAML
        for _ in range(rng.randint(1, 3)):
            urdf, yml = mutate(urdf, rng) or "<", mutate(yml, rng)
        try_urdf(urdf if urdf.lstrip().startswith("<") else "<" + urdf)
        try_transmissions("<" + urdf.lstrip("<"))
        try_yaml(yml + "\n")


@pytest.mark.parametrize("seed", range(2))
def test_damaged_bytes_in_files(seed, tmp_path):
    rng = random.Random(seed)
    for suffix, text, attempt in ((".urdf", URDF, try_urdf), (".yml", YAML, try_yaml)):
        path = tmp_path / f"robot{suffix}"
        for _ in range(150):
            data = bytearray(text.encode())
            for _ in range(rng.randint(1, 4)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path.write_bytes(bytes(data))
            attempt(path)


@SETTINGS
@given(st.text(max_size=80))
def test_any_text_is_no_crash(text):
    try_urdf("<" + text)
    try_yaml("submechanisms:" + text)
    try_yaml(text + "\n")


WORDS = [*TREE.joint_names, *TREE.frames, "weld", "", "x", "spherical", "RR", "auto", 0, 1.5, None]
ENTRIES = st.recursive(
    st.sampled_from(WORDS) | st.floats() | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["name", "type", "axis", "cut", "joint", "terms", "crank", "xyz", "rod"]),
        inner, max_size=3,
    ),
    max_leaves=8,
)  # fmt: skip
KEYS = [key for key in yaml.safe_load(YAML)["submechanisms"][0] if key != "file_path"]


@SETTINGS
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), ENTRIES, max_size=5), max_size=3))
def test_right_keys_with_any_content(entries):
    try_yaml(yaml.safe_dump({"submechanisms": entries}) + "\n")
