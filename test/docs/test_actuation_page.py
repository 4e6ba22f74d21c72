"""docs/actuation.md lists the keys of actuators and of friction, all of them."""

from __future__ import annotations

import re

import yaml
from support.doc_pages import ROOT, blocks

from closed_loop_dynamics.model.hyrodyn.schema import ACTUATOR, FRICTION, SPRING

PAGE = ROOT / "docs" / "actuation.md"


def test_the_page_lists_all_keys_of_joints() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [\d.]+ \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(rows) == set(ACTUATOR.keys)


def test_the_keys_of_the_example_exist() -> None:
    example, springs = [block for block in blocks(PAGE) if block.language == "yaml"]
    file = yaml.safe_load(example.code)
    assert set(file["actuators"]["knee_cylinder"]) <= set(ACTUATOR.keys)
    assert set(file["joint_friction"]["knee"]) <= set(FRICTION.keys)
    used = {key for spring in yaml.safe_load(springs.code)["springs"] for key in spring}
    assert used == set(SPRING.keys)
