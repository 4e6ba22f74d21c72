"""The inverse operational-space inertia of a robot's tips: ours, by projection, and Pinocchio's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from closed_loop_dynamics.quantities.operational_space import osim_program
from closed_loop_dynamics.robot import Robot

from .checks import Check
from .dense import add_osim, instruction_count
from .pinocchio_side import PinocchioSide
from .states import States
from .timing import Call, Contender, chunked, row_by_row

OSIM = "inverse OSIM of the tips"
OSIM_BARE = f"{OSIM}: bare program"
BY_PROJECTION = "ours: J M_y⁻¹ Jᵀ, native"
BARE_TREE = "computeDelassusMatrix (tree)"


def tips(robot: Robot) -> list[str]:
    """One link for every branch's last cluster: what its last independent joint moves."""
    mech = robot.mechanism
    of = {b: k for k, cluster in enumerate(mech.clusters) for b in cluster.bodies}
    inner = {of[cluster.parent] for cluster in mech.clusters if cluster.parent >= 0}
    moved = (
        [b for b in mech.independent if of[b] == k]
        for k in range(len(mech.clusters))
        if k not in inner
    )
    return [mech.tree.bodies[bodies[-1]].link for bodies in moved if bodies]


def osim_contenders(robot: Robot, other: PinocchioSide, states: States) -> list[Contender]:
    """Cluster EFPA, projection in the same style, and Pinocchio's matrix of the open tree."""
    links = tips(robot)
    bare, projection = (
        robot.programs.program(name)
        for name in (osim_program(robot.programs, links), add_osim(robot, links))
    )
    return [
        row_by_row(OSIM, lambda y: robot.inverse_osim(links, y), states.y),
        row_by_row(OSIM_BARE, bare, states.y),
        row_by_row(BY_PROJECTION, projection, states.y),
        pinocchio_osim(other, links, states),
    ]


def osim_instructions(robot: Robot) -> str:
    """Instruction counts of the two programs, in words."""
    links = tips(robot)
    names = osim_program(robot.programs, links), add_osim(robot, links)
    efpa, projection = (instruction_count(robot, name) for name in names)
    return f"inverse OSIM of {len(links)} tips: {efpa} instructions, by projection {projection}"


def osim_check(robot: Robot, states: States) -> Check:
    """EFPA against projection, over some of the states."""
    links, y = tips(robot), states.y[::50]
    ours = robot.inverse_osim(links, y)
    reference = robot.programs.program(add_osim(robot, links))(y).reshape(ours.shape)
    scale = np.abs(reference).max(axis=(1, 2), keepdims=True)
    return Check("inverse OSIM = J M_y⁻¹ Jᵀ", float(np.max(np.abs(ours - reference) / scale)), 1e-9)


def pinocchio_osim(other: PinocchioSide, links: list[str], states: States) -> Contender:
    """Pinocchio knows the links as 6-D contacts; the loops stay open, so it does less."""
    model, contacts = other.tree.model, pin.StdVec_RigidConstraintModel()
    data, contact_data = model.createData(), pin.StdVec_RigidConstraintData()
    for link in links:
        frame: Any = model.frames[other.tree.frame_id(link)]
        contact = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D, model, frame.parentJoint, frame.placement, pin.LOCAL
        )
        contacts.append(contact)
        contact_data.append(contact.createData())
    calls: list[Call] = [
        (model, data, q, contacts, contact_data) for q in other.tree.to_pinocchio_q(states.q)
    ]
    return Contender(BARE_TREE, pin.computeDelassusMatrix, chunked(calls))
