"""Every way to break a submechanism file ends in an error naming file, key path and remedy."""

from __future__ import annotations

import pytest

from closed_loop_dynamics.errors import SubmechanismError, UrdfError
from closed_loop_dynamics.model import read_submechanisms, read_urdf

URDF = """<robot name="r">
  <link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <link name="tip"/>
  <joint name="crank" type="revolute"><parent link="base"/><child link="a"/></joint>
  <joint name="rod" type="revolute"><parent link="a"/><child link="b"/></joint>
  <joint name="weld" type="fixed"><parent link="b"/><child link="tip"/></joint>
  <joint name="rocker" type="revolute"><parent link="base"/><child link="c"/></joint>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="d"/>
    <mimic joint="rocker" multiplier="0.5"/></joint>
</robot>"""

GOOD = """\
submechanisms:
- name: four_bar
  type: numerical
  solver: auto
  jointnames: [crank, rod, weld, rocker, slide]
  jointnames_spanningtree: [crank, rod, rocker, slide]
  jointnames_independent: [crank]
  jointnames_active: [crank]
  reference: {crank: 0.5}
  actuators: {crank: {viscous_friction: 0.1}}
  loop_constraints:
  - cut_joint: rod
    predecessor_body: tip
    successor_body: c
    constraint_axes:
    - {name: tx, axis: [0, 0, 0, 1, 0, 0], baumgarte_stabilization_parameter: 0.01}
    - {name: tz, axis: [0, 0, 0, 0, 0, 1]}
"""
LOOP_TEXT = GOOD[GOOD.index("  - cut_joint") :]
AXES = GOOD[GOOD.index("    constraint_axes") :]
ENTRY = "submechanisms[0]"
LOOP = "submechanisms[0].loop_constraints[0]"


def good(*changes):
    """GOOD with (old, new) replacements, each of which must hit."""
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def cut(lock):
    return good((AXES, f"    {lock}\n"))


def entries(*items):
    return "submechanisms:\n" + "\n".join(f"- {{{item}}}" for item in items) + "\n"


def joints(spanning, independent=None, more=""):
    return (
        f"jointnames_spanningtree: [{spanning}], "
        f"jointnames_independent: [{independent or spanning}]{more}"
    )


def coupled(couplings, independent="crank", kind="coupling"):
    return entries(
        joints("crank, rod, rocker, slide", independent, f", type: {kind}, couplings: {couplings}")
    )


DEEP = "[" * 60 + "]" * 60
VERY_DEEP = "[" * 2000
#: Where libyaml would overrun the stack.
BOTTOMLESS = ("[" * 400_000, "- " * 200_000, "[{a: " * 100_000)
LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n"
    for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)
MERGE_LAUGHS = "a: &a {x: 1}\n" + "".join(
    f"{b}: &{b} {{<<: [{', '.join([f'*{a}'] * 10)}]}}\n"
    for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)

# text, place, problem, remedy
CASES = {
    # --- the file as a whole
    "only a comment": ("# nothing\n\n", "", "empty", "'submechanisms:'"),
    "list at the top": ("- a\n- b\n", "", "expected a mapping", "'submechanisms:'"),
    "text at the top": ("hello\nworld\n", "", "expected a mapping", "'submechanisms:'"),
    "no submechanisms": ("version: 1\nmodel: 2\n", "", "no 'submechanisms'", "add"),
    "unknown top-level key": (
        "submechanism:\n- a\n",
        "submechanism",
        "unknown key 'submechanism'",
        "mean 'submechanisms'?",
    ),
    "not a list": ("submechanisms: {a: 1}\n", "submechanisms", "expected a list", "entries"),
    "no list": ("submechanisms:\n", "submechanisms", "found nothing", "entries"),
    "entry is a word": ("submechanisms:\n- arm\n", ENTRY, "found 'arm'", "{name: arm"),
    "key is a number": ("submechanisms:\n- {1: a}\n", ENTRY, "key 1 is not text", "quotes"),
    "key is a list": ("submechanisms:\n- {[a]: a}\n", ENTRY, "not a word", "word"),
    "tab": ("submechanisms:\n\t- a\n", "line 2, column 1", "not valid YAML", "spaces"),
    "open bracket": ("submechanisms: [\n", "line 2, column 1", "not valid YAML", "brackets"),
    "duplicate key": (
        "submechanisms: []\nsubmechanisms: []\n",
        "submechanisms",
        "twice (lines 1 and 2)",
        "keep one",
    ),
    "duplicate key deep": (
        good(("reference: {crank: 0.5}", "reference: {crank: 0.5, crank: 1.0}")),
        f"{ENTRY}.reference.crank",
        "twice",
        "keep one",
    ),
    "two documents": ("submechanisms: []\n---\na: 1\n", "line 2", "document", "one document"),
    "python tag": (
        "submechanisms: !!python/object/apply:os.getcwd []\n",
        "line 1",
        "not valid YAML",
        "safety",
    ),
    "bad date": ("submechanisms: 2001-99-99\n", "", "cannot be read", "quotes"),
    "bad int": ("submechanisms: !!int 'x'\n", "", "cannot be read", "quotes"),
    "bad bool": ("submechanisms: !!bool 'x'\n", "", "cannot be read", "quotes"),
    "alias bomb": (LAUGHS + "submechanisms: []\n", "", "more than", "fewer aliases"),
    "merge bomb": (MERGE_LAUGHS + "submechanisms: []\n", "", "more than", "fewer aliases"),
    "alias of itself": ("submechanisms: &a [*a]\n", "submechanisms[0]", "contains itself", "out"),
    "merge of itself": ("submechanisms: &a {<<: *a}\n", "submechanisms", "itself", "out"),
    "undefined alias": ("submechanisms: *a\n", "line 1", "not valid YAML", "check"),
    "deep": (f"submechanisms: {DEEP}\n", "submechanisms[0]", "too deeply", "layout"),
    "very deep": (f"submechanisms: {VERY_DEEP}\n", "", "", ""),
    **{
        f"bottomless {k}": (f"submechanisms:\n {text}\n", "", "", "")
        for k, text in enumerate(BOTTOMLESS)
    },
    # --- keys and words of an entry
    "unknown key": (
        good(("jointnames_active", "jointnames_activ")),
        f"{ENTRY}.jointnames_activ",
        "unknown key 'jointnames_activ'",
        "mean 'jointnames_active'?",
    ),
    "key without value": (
        good(("reference: {crank: 0.5}", "reference:")),
        f"{ENTRY}.reference",
        "found nothing",
        "remove the key",
    ),
    "unknown type": (
        good(("numerical", "numercal")),
        f"{ENTRY}.type",
        "'numercal'",
        "mean 'numerical'?",
    ),
    "type is a number": (good(("numerical", "6")), f"{ENTRY}.type", "found 6", "quotes: '6'"),
    "unknown solver": (good(("auto", "auo")), f"{ENTRY}.solver", "'auo'", "mean 'auto'?"),
    "name is a bool": (good(("four_bar", "yes")), f"{ENTRY}.name", "True", "quotes"),
    # --- joint lists
    "unknown joint in jointnames": (
        good(("jointnames: [crank", "jointnames: [crnk")),
        f"{ENTRY}.jointnames[0]",
        "no joint 'crnk'",
        "mean 'crank'?",
    ),
    "unknown spanning joint": (
        good(("tree: [crank", "tree: [crnk")),
        f"{ENTRY}.jointnames_spanningtree[0]",
        "no joint 'crnk'",
        "mean 'crank'?",
    ),
    "free base in the spanning list": (
        good(("tree: [crank", "tree: [floating_base, crank")),
        f"{ENTRY}.jointnames_spanningtree[0]",
        "no joint 'floating_base'",
        "valid",
    ),
    "unknown independent joint": (
        good(("independent: [crank]", "independent: [crnk]")),
        f"{ENTRY}.jointnames_independent[0]",
        "no joint 'crnk'",
        "mean 'crank'?",
    ),
    "independent not in spanning": (
        entries(joints("crank, rod", "crank, rocker")),
        f"{ENTRY}.jointnames_independent[1]",
        "'rocker' is not in this submechanism",
        "add it there",
    ),
    "independent is fixed": (
        good(("independent: [crank]", "independent: [weld]")),
        f"{ENTRY}.jointnames_independent[0]",
        "'weld' is fixed",
        "moves",
    ),
    "no independent": (
        good(("  jointnames_independent: [crank]\n", "")),
        ENTRY,
        "no 'jointnames_independent'",
        "choose from its joints: crank, rod",
    ),
    "independent empty": (
        good(("independent: [crank]", "independent: []")),
        f"{ENTRY}.jointnames_independent",
        "at least one",
        "crank, rod",
    ),
    "active unknown": (
        good(("active: [crank]", "active: [crnk]")),
        f"{ENTRY}.jointnames_active[0]",
        "no joint 'crnk'",
        "mean 'crank'?",
    ),
    "joint twice in a list": (
        good(("tree: [crank", "tree: [crank, crank")),
        f"{ENTRY}.jointnames_spanningtree[1]",
        "listed twice",
        "remove one",
    ),
    "list is a word": (
        good(("tree: [crank, rod, rocker, slide]", "tree: crank")),
        f"{ENTRY}.jointnames_spanningtree",
        "found 'crank'",
        "[joint1, joint2]",
    ),
    "joint name is a number": (
        good(("tree: [crank", "tree: [1")),
        f"{ENTRY}.jointnames_spanningtree[0]",
        "found 1",
        "quotes",
    ),
    "no joints at all": (entries("name: x"), ENTRY, "no 'jointnames_spanningtree'", "list"),
    "only fixed joints": (
        entries("jointnames: [weld], jointnames_independent: [weld]"),
        f"{ENTRY}.jointnames",
        "no moving joint",
        "remove the submechanism",
    ),
    "joint in two submechanisms": (
        entries(joints("crank, rod"), joints("rod")),
        "submechanisms[1].jointnames_spanningtree[0]",
        "also in submechanisms[0].jointnames_spanningtree[1]",
        "one of them",
    ),
    # --- counts
    "serial with a dependent joint": (
        entries(joints("crank, rod", "crank", ", type: RR")),
        ENTRY,
        "nothing determines joint 'rod'",
        "jointnames_independent",
    ),
    "numerical without loops": (
        entries(joints("crank, rod", "crank", ", type: numerical")),
        ENTRY,
        "nothing determines joint 'rod'",
        "loop_constraints",
    ),
    "coupling leaves a joint": (
        coupled("[{joint: rod, terms: {crank: 1}}]"),
        ENTRY,
        "nothing determines joint 'rocker'",
        "couplings",
    ),
    "loops but all independent": (
        entries(
            joints(
                "crank, rod",
                None,
                ", loop_constraints: [{cut_joint: rod, predecessor_body: tip, "
                "successor_body: c, cut: fixed}]",
            )
        ),
        ENTRY,
        "all its joints are independent",
        "shorten jointnames_independent",
    ),
    # --- loops
    "loop is a word": (good((LOOP_TEXT, "  - rod\n")), LOOP, "'rod'", "{cut_joint: ..."),
    "unknown loop key": (
        good(("cut_joint", "cut_jont")),
        f"{LOOP}.cut_jont",
        "unknown key",
        "mean 'cut_joint'?",
    ),
    "no cut joint": (good(("- cut_joint: rod\n    ", "- ")), LOOP, "no 'cut_joint'", "frame"),
    "unknown cut joint": (
        good(("cut_joint: rod", "cut_joint: rodd")),
        f"{LOOP}.cut_joint",
        "no joint 'rodd'",
        "mean 'rod'?",
    ),
    "no predecessor": (
        good(("    predecessor_body: tip\n", "")),
        LOOP,
        "no 'predecessor_body'",
        "add",
    ),
    "unknown link": (
        good(("predecessor_body: tip", "predecessor_body: tipp")),
        f"{LOOP}.predecessor_body",
        "no link 'tipp'",
        "mean 'tip'?",
    ),
    "same link": (good(("successor_body: c", "successor_body: tip")), LOOP, "same link", "two"),
    "same lumped body": (
        good(("successor_body: c", "successor_body: b")),
        LOOP,
        "fixed to each other",
        "move relative",
    ),
    "one frame only": (
        good(("  - cut_joint: rod", "  - predecessor_frame: {xyz: [0, 0, 0]}")),
        f"{LOOP}.predecessor_frame",
        "given alone",
        "together",
    ),
    "frame with a wrong key": (
        good(("  - cut_joint: rod", "  - predecessor_frame: {xzy: [0]}\n    successor_frame: {}")),
        f"{LOOP}.predecessor_frame.xzy",
        "unknown key 'xzy'",
        "mean 'xyz'?",
    ),
    "frame of two numbers": (
        good(
            ("  - cut_joint: rod", "  - predecessor_frame: {xyz: [0, 0]}\n    successor_frame: "),
            ("successor_frame: ", "successor_frame: {}"),
        ),
        f"{LOOP}.predecessor_frame.xyz",
        "2 numbers",
        "[0.0, 0.0, 0.0]",
    ),
    "cut and axes": (
        good(("    constraint_axes", "    cut: revolute\n    constraint_axes")),
        LOOP,
        "both of",
        "one of them",
    ),
    "neither cut nor axes": (good((AXES, "")), LOOP, "neither of", "cut: revolute|"),
    "unknown cut": (cut("cut: revolut"), f"{LOOP}.cut", "'revolut'", "mean 'revolute'?"),
    "axis with spherical": (
        cut("cut: spherical\n    axis: [0, 0, 1]"),
        f"{LOOP}.axis",
        "no axis",
        "remove",
    ),
    "zero cut axis": (
        cut("cut: revolute\n    axis: [0, 0, 0]"),
        f"{LOOP}.axis",
        "zero",
        "[0, 0, 1]",
    ),
    "axis beside constraint_axes": (
        good(("    constraint_axes", "    axis: [0, 0, 1]\n    constraint_axes")),
        f"{LOOP}.axis",
        "'cut' only",
        "inside",
    ),
    "no axes": (cut("constraint_axes: []"), f"{LOOP}.constraint_axes", "at least one", "axis:"),
    "axis entry without axis": (
        good((", axis: [0, 0, 0, 0, 0, 1]", "")),
        f"{LOOP}.constraint_axes[1]",
        "no 'axis'",
        "write axis:",
    ),
    "axis of five": (
        good(("[0, 0, 0, 0, 0, 1]", "[0, 0, 0, 0, 1]")),
        f"{LOOP}.constraint_axes[1].axis",
        "5 numbers where 6",
        "write [",
    ),
    "axis nan": (
        good(("[0, 0, 0, 0, 0, 1]", "[0, 0, 0, 0, 0, .nan]")),
        f"{LOOP}.constraint_axes[1].axis[5]",
        "not finite",
        "finite",
    ),
    "axis overflow": (
        good(("[0, 0, 0, 0, 0, 1]", f"[0, 0, 0, 0, 0, 1{'0' * 400}]")),
        f"{LOOP}.constraint_axes[1].axis[5]",
        "not finite",
        "finite",
    ),
    "axis word": (
        good(("[0, 0, 0, 0, 0, 1]", "[0, 0, 0, 0, 0, z]")),
        f"{LOOP}.constraint_axes[1].axis[5]",
        "found 'z'",
        "number",
    ),
    "axis bool": (
        good(("[0, 0, 0, 0, 0, 1]", "[0, 0, 0, 0, 0, true]")),
        f"{LOOP}.constraint_axes[1].axis[5]",
        "found True",
        "number",
    ),
    "zero axis": (
        good(("[0, 0, 0, 0, 0, 1]", "[0, 0, 0, 0, 0, 0]")),
        f"{LOOP}.constraint_axes[1].axis",
        "zero vector",
        "direction",
    ),
    "mixed axis": (
        good(("[0, 0, 0, 0, 0, 1]", "[1, 0, 0, 0, 0, 1]")),
        f"{LOOP}.constraint_axes[1].axis",
        "mixes rotation",
        "split",
    ),
    "repeated axis": (
        good(("[0, 0, 0, 0, 0, 1]", "[0, 0, 0, -2, 0, 0]")),
        f"{LOOP}.constraint_axes[1]",
        "'tz' repeats",
        "remove",
    ),
    "dependent axes": (
        good(
            (
                "tz, axis: [0, 0, 0, 0, 0, 1]}",
                "tz, axis: [0, 0, 0, 0, 0, 1]}\n    - {name: mix, axis: [0, 0, 0, 1, 0, 1]}",
            )
        ),
        f"{LOOP}.constraint_axes[2]",
        "'mix' repeats",
        "remove",
    ),
    "negative Baumgarte": (
        good(("0.01", "-0.01")),
        f"{LOOP}.constraint_axes[0].baumgarte_stabilization_parameter",
        "negative",
        "zero or more",
    ),
    # --- reference and actuators
    "reference of a stranger": (
        good(("reference: {crank", "reference: {crnk")),
        f"{ENTRY}.reference.crnk",
        "'crnk' is not a joint",
        "mean 'crank'?",
    ),
    "reference inf": (
        good(("{crank: 0.5}", "{crank: .inf}")),
        f"{ENTRY}.reference.crank",
        "not finite",
        "finite",
    ),
    "actuator not driven": (
        good(("actuators: {crank", "actuators: {rod")),
        f"{ENTRY}.actuators.rod",
        "not a driven joint",
        "valid: crank",
    ),
    "unknown actuator key": (
        good(("viscous_friction", "viscos_friction")),
        f"{ENTRY}.actuators.crank.viscos_friction",
        "unknown key",
        "mean 'viscous_friction'?",
    ),
    "negative friction": (
        good(("viscous_friction: 0.1", "viscous_friction: -0.1")),
        f"{ENTRY}.actuators.crank.viscous_friction",
        "negative",
        "zero or more",
    ),
    "gear ratio zero": (
        good(("viscous_friction: 0.1", "gear_ratio: 0")),
        f"{ENTRY}.actuators.crank.gear_ratio",
        "zero",
        "rotor speed over joint speed",
    ),
    "coulomb speed zero": (
        good(("viscous_friction: 0.1", "coulomb_speed: 0.0")),
        f"{ENTRY}.actuators.crank.coulomb_speed",
        "zero",
        "0.01",
    ),
    "friction of a stranger": (
        good(("actuators: {crank", "joint_friction: {rood")),
        f"{ENTRY}.joint_friction.rood",
        "'rood' is not a joint",
        "mean 'rod'?",
    ),
    "rotor of negative inertia": (
        good(
            (
                "actuators: {crank: {viscous_friction: 0.1",
                "joint_friction: {rod: {rotor_inertia: -1",
            )
        ),
        f"{ENTRY}.joint_friction.rod.rotor_inertia",
        "negative",
        "zero or more",
    ),
    "friction given twice": (
        good(("actuators: {", "joint_friction: {crank: {viscous_friction: 1}}\n  actuators: {")),
        f"{ENTRY}.joint_friction.crank",
        "given twice",
        "keep one",
    ),
    # --- couplings
    "coupling without terms": (
        coupled("[{joint: rod}]"),
        f"{ENTRY}.couplings[0]",
        "no 'terms'",
        "terms:",
    ),
    "empty terms": (
        coupled("[{joint: rod, terms: {}}]"),
        f"{ENTRY}.couplings[0].terms",
        "at least one term",
        "knee",
    ),
    "coupling to itself": (
        coupled("[{joint: rod, terms: {rod: 1}}]"),
        f"{ENTRY}.couplings[0]",
        "coupled to itself",
        "other joints",
    ),
    "coupling ratio nan": (
        coupled("[{joint: rod, terms: {crank: .nan}}]"),
        f"{ENTRY}.couplings[0].terms.crank",
        "not finite",
        "finite",
    ),
    "coupling of a stranger": (
        coupled("[{joint: rood, terms: {crank: 1}}]"),
        f"{ENTRY}.couplings[0]",
        "'rood'",
        "mean 'rod'?",
    ),
    "coupling to a stranger": (
        coupled("[{joint: rod, terms: {crnk: 1}}]"),
        f"{ENTRY}.couplings[0]",
        "'crnk'",
        "mean 'crank'?",
    ),
    "two couplings": (
        coupled("[{joint: rod, terms: {crank: 1}}, {joint: rod, terms: {rocker: 1}}]"),
        f"{ENTRY}.couplings[1]",
        "two couplings (the other: submechanisms[0].couplings[0])",
        "keep one",
    ),
    "coupled and independent": (
        coupled("[{joint: crank, terms: {rod: 1}}]"),
        f"{ENTRY}.couplings[0]",
        "'crank' is coupled, yet",
        "turn the coupling around",
    ),
    "circle of couplings": (
        coupled("[{joint: rod, terms: {rocker: 1}}, {joint: rocker, terms: {rod: 1}}]"),
        f"{ENTRY}.couplings[0]",
        "circle",
        "independent ones",
    ),
    "overflowing chain": (
        coupled("[{joint: rod, terms: {rocker: 1e9}}, {joint: rocker, terms: {crank: 1e9}}]"),
        f"{ENTRY}.couplings[0]",
        "the ratio of joint 'rod' to 'crank' is 1e+18",
        "between 1e-12 and 1e+12",
    ),
    "huge ratio": (
        coupled("[{joint: rod, terms: {crank: 1e300}}]"),
        f"{ENTRY}.couplings[0]",
        "the ratio of joint 'rod' to 'crank' is 1e+300",
        "between 1e-12 and 1e+12",
    ),
    "vanishing ratio": (
        coupled("[{joint: rod, terms: {crank: -1.0e-13}}]"),
        f"{ENTRY}.couplings[0]",
        "the ratio of joint 'rod' to 'crank' is -1e-13",
        "0 or a ratio",
    ),
    "huge offset": (
        coupled("[{joint: rod, terms: {crank: 2}, offset: 1.0e9}]"),
        f"{ENTRY}.couplings[0]",
        "the offset of joint 'rod' is 1e+09",
        "below 1e+08",
    ),
    "type coupling without any": (
        entries(joints("crank, rod", "crank", ", type: coupling")),
        ENTRY,
        "no couplings found",
        "couplings: [{joint:",
    ),
    # --- mimic
    "mimic joint is independent": (
        entries(joints("rocker, slide")),
        f"{ENTRY} (URDF mimic of 'slide')",
        "'slide' is coupled, yet",
        "remove it from jointnames_independent",
    ),
    "mimic contradicts a coupling": (
        coupled("[{joint: slide, terms: {rocker: 3}}]"),
        f"{ENTRY} (URDF mimic of 'slide')",
        "two couplings",
        "keep one",
    ),
    "mimic without its master": (
        entries(joints("slide")),
        ENTRY,
        "'slide' mimics 'rocker'",
        "one submechanism",
    ),
    "master without its mimic": (
        entries(joints("rocker")),
        f"{ENTRY}.jointnames_spanningtree",
        "'slide' mimics 'rocker'",
        "list 'slide' there too",
    ),
    "mimic across entries": (
        entries(joints("rocker"), joints("slide")),
        "submechanisms[1]",
        "'slide' mimics 'rocker'",
        "one submechanism",
    ),
}


@pytest.fixture(scope="module")
def tree():
    return read_urdf(URDF)


def test_the_base_of_the_cases_is_valid(tree):
    (entry,) = read_submechanisms(GOOD, tree)
    assert entry.spanning == ("crank", "rod", "rocker", "slide")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_bad_text(case, tree, tmp_path):
    text, place, problem, remedy = case
    path = tmp_path / "broken.yml"
    path.write_text(text, encoding="utf-8")
    for source, file in ((text, "<text>"), (path, "broken.yml")):
        with pytest.raises(SubmechanismError) as caught:
            read_submechanisms(source, tree)
        error = caught.value
        assert file in error.file
        assert place in error.place
        assert problem in error.problem
        assert remedy in error.remedy
        assert error.remedy
        assert len(str(error)) < 1500
        for part in (error.file, error.place, error.problem, error.remedy):
            assert part in str(error)


@pytest.mark.parametrize(
    ("content", "problem", "remedy"),
    [
        (b"", "empty", "written completely"),
        (b"\xff\xfe\x00", "not UTF-8", "save it as UTF-8"),
        (b"submechanisms: []\0", "binary", "itself"),
        (b"a: \x07", "not valid YAML", "check"),
        pytest.param(b"# " + b"x" * 2**21, "too large", "right file", id="too large"),
    ],
)
def test_bad_file_contents(content, problem, remedy, tree, tmp_path):
    path = tmp_path / "sub.yml"
    path.write_bytes(content)
    with pytest.raises(SubmechanismError) as caught:
        read_submechanisms(path, tree)
    assert caught.value.file == str(path)
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy


def test_missing_file_and_folder(tree, tmp_path):
    (tmp_path / "sub.yml").write_text(GOOD)
    with pytest.raises(SubmechanismError, match=r"sbu\.yml: no such file.*mean 'sub\.yml'"):
        read_submechanisms(tmp_path / "sbu.yml", tree)
    with pytest.raises(SubmechanismError, match=r"is a folder.*give the path"):
        read_submechanisms(tmp_path, tree)


@pytest.mark.parametrize("source", [3, b"submechanisms", {}, "", "a\0b", "submechanisms: \ud800"])
def test_things_that_are_no_source(source, tree):
    with pytest.raises(SubmechanismError) as caught:
        read_submechanisms(source, tree)
    assert caught.value.remedy


def test_floating_base_does_not_belong_into_an_entry():
    tree = read_urdf(URDF, floating_base=True)
    with pytest.raises(SubmechanismError) as caught:
        read_submechanisms(entries(joints("floating_base")), tree)
    assert caught.value.place == f"{ENTRY}.jointnames_spanningtree[0]"
    assert "of its own" in caught.value.problem
    assert "remove" in caught.value.remedy


TRANSMISSION = entries(joints("crank, rod", "crank", ", type: TRANSMISSION, file_path: Sub.urdf"))


def test_transmission_without_couplings_lists_the_folders(tree, tmp_path):
    for folder in ("full", "extra", "beside"):
        (tmp_path / folder).mkdir()
    path = tmp_path / "full" / "sub.yml"
    path.write_text(TRANSMISSION)
    with pytest.raises(SubmechanismError) as caught:
        read_submechanisms(path, tree, search_path=[tmp_path / "extra"])
    error = caught.value
    assert (error.file, error.place) == (str(path), ENTRY)
    for word in ("full", "extra", "2 folders beside", "the robot's URDF"):
        assert word in error.problem
    assert "couplings: [{joint:" in error.remedy and "search_path" in error.remedy


def test_ambiguous_sub_urdf(tree, tmp_path):
    for folder in ("full", "one", "two"):
        (tmp_path / folder).mkdir()
        if folder != "full":
            (tmp_path / folder / "Sub.urdf").write_text("<robot name='s'/>")
    path = tmp_path / "full" / "sub.yml"
    path.write_text(TRANSMISSION)
    with pytest.raises(SubmechanismError, match=r"file_path: .*several folders: one, two; "):
        read_submechanisms(path, tree)


def test_broken_sub_urdf_is_named(tree, tmp_path):
    (tmp_path / "sub.yml").write_text(TRANSMISSION)
    (tmp_path / "Sub.urdf").write_text("<robot")
    with pytest.raises(UrdfError, match=r"Sub\.urdf: .*well-formed"):
        read_submechanisms(tmp_path / "sub.yml", tree)


def test_sub_urdf_with_a_stranger(tree, tmp_path):
    (tmp_path / "sub.yml").write_text(TRANSMISSION)
    (tmp_path / "Sub.urdf").write_text(
        '<robot name="s"><transmission name="t"><type>MultiJointLinearTransmission</type>'
        '<joint name="rod"><depends_on joint="crnk"/></joint></transmission></robot>'
    )
    with pytest.raises(SubmechanismError) as caught:
        read_submechanisms(tmp_path / "sub.yml", tree)
    assert caught.value.place == f"{ENTRY}.file_path (Sub.urdf)"
    assert "'crnk'" in caught.value.problem
    assert "did you mean 'crank'?" in caught.value.remedy
