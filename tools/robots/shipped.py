"""The robots that come with the package: what they are, who generates them, how they may move.

To add one: write a module with ``generate() -> (URDF text, YAML text)``, add it here, and run
``python -m tools.robots <name>``. Tests and launch files follow this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module


@dataclass(frozen=True)
class Sample:
    """A motion to look at, there and back, from rest to rest.

    Attributes:
        what: a sentence about it.
        goal, start: independent joint -> position half-way and at both ends [rad or m]; joints that
            are not named stay at zero.
        duration: time for one way [s].
    """

    what: str
    goal: Mapping[str, float]
    start: Mapping[str, float] = field(default_factory=dict)
    duration: float = 1.5


@dataclass(frozen=True)
class ShippedRobot:
    """One robot.

    Attributes:
        name: of its files and of its launch file.
        generator: "module:function" below this package.
        title, description: for people; one line, and a few sentences.
        source: the paper or robot that it follows, and what is our own.
        sample: the motion that its launch file shows.
        floating: its base is free: ``load(..., floating_base=True)``. The ROS nodes know no contact
            with the ground and hold the base still.
        submechanisms: path of its submechanism file where the pattern does not hold.
    """

    name: str
    generator: str
    title: str
    description: str
    source: str
    sample: Sample
    floating: bool = False
    submechanisms: str = ""

    def generate(self) -> tuple[str, str]:
        """The URDF text and the submechanism file's text."""
        module, function = self.generator.split(":")
        urdf, text = getattr(import_module(f"{__package__}.{module}"), function)()
        return str(urdf), str(text)

    @property
    def urdf_file(self) -> str:
        """Path of the URDF below the package's share folder (and this repository)."""
        return f"urdf/{self.name}.urdf"

    @property
    def submechanism_file(self) -> str:
        """Path of the submechanism file, likewise."""
        return self.submechanisms or f"config/{self.name}.yaml"

    @property
    def nodes_file(self) -> str:
        """Path of the parameters of the ROS nodes, likewise."""
        return f"config/{self.name}_nodes.yaml"

    @property
    def launch_file(self) -> str:
        """Path of the launch file, likewise."""
        return f"launch/{self.name}.launch.py"


_BOXING = {
    "torso_pitch": 0.15,
    "torso_roll": -0.1,
    "torso_yaw": 0.6,
    "left_shoulder_swing": -1.2,
    "left_elbow": -1.5,
    "right_shoulder_swing": -1.5,
    "right_elbow": -0.3,
}
_GUARD = {
    "left_shoulder_swing": -0.5,
    "left_elbow": -1.6,
    "right_shoulder_swing": -0.5,
    "right_elbow": -1.6,
}


def _both(between: str, **positions: float) -> dict[str, float]:
    """The same positions on the left and on the right."""
    return {
        f"{side}{between}{joint}": value
        for side in ("left", "right")
        for joint, value in positions.items()
    }


def _crouch(hip: float, knee: float) -> dict[str, float]:
    """All four legs of the quadruped alike."""
    ends = (_both("_", hip=hip, knee=knee), ("front", "hind"))
    return {f"{end}_{joint}": value for end in ends[1] for joint, value in ends[0].items()}


def _zigzag(joints: tuple[int, ...], angle: float) -> dict[str, float]:
    """A chain that folds up: parts of it lean by ``angle`` to one side and the other in turn."""
    last = len(joints) - 1
    return {
        f"joint_{joint}": (-1) ** k * angle * (1 if k in (0, last) else 2)
        for k, joint in enumerate(joints)
    }


#: Name -> robot.
SHIPPED: dict[str, ShippedRobot] = {
    robot.name: robot
    for robot in (
        ShippedRobot(
            "crank_leg",
            "crank_leg:generate",
            "Crank leg",
            "A leg with 7 joints, 3 of them driven: a motor at the hip, a cylinder across the knee "
            "(1-RRPR), a crank and a push rod at the ankle (four-bar). The smallest robot that "
            "shows what the package is for.",
            "Our own.",
            Sample(
                "A squat: half the knee angle at hip and ankle keeps the foot level.",
                {"hip": -0.7, "knee": 1.4, "ankle": -0.7},
                {"hip": -0.2, "knee": 0.4, "ankle": -0.2},
            ),
        ),
        ShippedRobot(
            "rh5_leg",
            "rh5_leg:generate",
            "RH5-style leg",
            "A humanoid's leg with 18 joints, 6 of them driven: two motors, two lambda mechanisms "
            "(1-RRPR) at hip and knee, and an ankle on two cylinders (2-SPRR+1U).",
            "Topology of the leg of RH5 in S. Kumar and Mueller 2019; dimensions and masses are "
            "our own.",
            Sample(
                "The foot, level and below the hip, goes up by 15 cm and down again.",
                {"hip_pitch": -0.6841, "knee": 1.3682, "ankle_pitch": -0.6841},
                {"hip_pitch": -0.2747, "knee": 0.5494, "ankle_pitch": -0.2747},
            ),
            submechanisms="config/rh5_leg_submechanisms.yaml",
        ),
        ShippedRobot(
            "rh5_manus_reduced",
            "rh5_manus:generate_reduced",
            "RH5-Manus-style upper body, reduced",
            "An upper body with 23 joints, 13 of them independent: torso on two cylinders "
            "(2-SPU+1U), elbows with lambda mechanisms (1-RRPR), motors elsewhere.",
            "Topology and counts of the reduced RH5 Manus in R. Kumar et al. 2022 (n = 23, m = 13, "
            "p = 13); dimensions and masses are our own, of the published order of magnitude.",
            Sample("A punch: from guard to a straight right.", _BOXING, _GUARD, 0.8),
        ),
        ShippedRobot(
            "rh5_manus",
            "rh5_manus:generate",
            "RH5-Manus-style upper body",
            "An upper body with 61 joints, 20 of them independent: as the reduced one, with a "
            "parallel wrist in each forearm (2-SU[RRPR]+1U, 16 joints) and a head that two motors "
            "nod and tilt together.",
            "Topology and counts of RH5 Manus in R. Kumar et al. 2022 (n = 61, m = 20, p = 20); "
            "dimensions and masses are our own, of the published order of magnitude. All ball "
            "hinges of the wrist follow its loops, where the published file leaves four idle.",
            Sample(
                "A punch: from guard to a straight right.",
                {**_BOXING, "left_wrist_pitch": 0.3, "right_wrist_yaw": 0.2, "head_nod": 0.2},
                {**_GUARD, "head_nod": 0.1},
                0.8,
            ),
        ),
        ShippedRobot(
            "rh5_humanoid",
            "rh5_humanoid:generate",
            "RH5-style humanoid",
            "A whole humanoid with a free base and 97 joints, 32 of them independent: the full "
            "upper body on two of the legs, with twelve parallel or coupled mechanisms.",
            "In the style of RH5 and RH5 Manus (S. Kumar and Mueller 2019, R. Kumar et al. 2022); "
            "put together from our own legs and upper body, dimensions and masses are our own.",
            Sample(
                "A squat with raised arms; the feet stay level.",
                {
                    **_both("_leg_", hip_pitch=-0.7, knee=1.3, ankle_pitch=-0.6),
                    **_both("_", shoulder_swing=-1.3, elbow=-0.4, wrist_pitch=0.3),
                    "torso_pitch": 0.2,
                    "head_nod": 0.15,
                },
                _both("_leg_", hip_pitch=-0.2, knee=0.4, ankle_pitch=-0.2),
            ),
            floating=True,
        ),
        ShippedRobot(
            "heavy_duty_loop",
            "heavy_duty_loop:generate",
            "Heavy-duty loop",
            "An arm of 415 kg on a stand, lifted by one cylinder (1-RRPR) whose stroke is the "
            "coordinate.",
            "Fig. 2 (a) of Paz and Mattila: its joints and its mass; lengths and the mass of each "
            "part are our own.",
            Sample(
                "The cylinder's stroke, nearly in full.",
                {"lift_cylinder": 0.55},
                {"lift_cylinder": 0.05},
                4.0,
            ),
        ),
        ShippedRobot(
            "heavy_duty_arm",
            "heavy_duty_arm:generate",
            "Heavy-duty arm",
            "A crane of 1063 kg: a slewing base, two linear-actuator loops one on the other "
            "(1-RRPR) and a prismatic boom, in the coordinates of its four actuators.",
            "Fig. 2 (b) of Paz and Mattila: its joints and its mass; lengths and the mass of each "
            "part are our own.",
            Sample(
                "From a folded crane to one that reaches out to the other side.",
                {"slew": 0.9, "lift_cylinder": 0.15, "tilt_cylinder": 0.08, "extension": 0.9},
                {"slew": -0.6, "lift_cylinder": 0.45, "tilt_cylinder": 0.30, "extension": 0.1},
                5.0,
            ),
        ),
        ShippedRobot(
            "irsbot2",
            "irsbot2:generate",
            "IRSBot-2",
            "Two motors translate a platform in a vertical plane. Each limb is a parallelogram "
            "that carries a loop of four universal joints; the platform can be commanded in x "
            "and z.",
            "Mueller 2022: lengths of Eq. 47, masses of Sec. 6.4.2; what was taken where these "
            "contradict each other is said in docs/parallel_manipulators.md.",
            Sample(
                "The platform goes 20 cm to the side.",
                {"right_arm": -0.3301, "left_arm": 0.1927},
                {"right_arm": 0.1927, "left_arm": -0.3301},
                0.8,
            ),
        ),
        ShippedRobot(
            "delta",
            "delta:generate",
            "Delta robot",
            "Three motors translate a platform in space. Each limb is an arm with two parallel "
            "rods on universal joints (3-R[2-UU]); the platform can be commanded in x, y and z.",
            "The Delta robot as Mueller 2022, Sec. 7, speaks of it; dimensions and masses are "
            "our own.",
            Sample(
                "The platform goes 25 cm across and up.",
                {"arm_0": -0.3837, "arm_1": 0.0557, "arm_2": 0.2993},
                {"arm_0": 0.4552, "arm_1": 0.2123, "arm_2": -0.0767},
                0.8,
            ),
        ),
        ShippedRobot(
            "six_ups",
            "six_ups:generate",
            "Gough-Stewart platform",
            "Six cylinders on universal joints move a platform in all six directions (6-UPS), in "
            "closed form; the platform can be commanded in its pose.",
            "The 6-UPS platform of S. Kumar and Mueller 2019, Table 3; dimensions and masses are "
            "our own.",
            Sample(
                "The platform lifts, leans and turns.",
                {"x": 0.03, "z": 0.03, "rx": 0.1, "ry": 0.15, "rz": 0.2},
                {"x": -0.03, "z": -0.02, "rx": -0.1, "ry": -0.15, "rz": -0.2},
            ),
        ),
        ShippedRobot(
            "exo_hip",
            "exo_joints:generate_hip",
            "Exoskeleton hip",
            "A thigh that three motors turn about the wearer's hip: a spherical parallel "
            "mechanism (3-RRR, 9 joints).",
            "The mechanism of the Spherical Exo Suit's hip in S. Kumar and Mueller 2019, Table 3; "
            "dimensions and masses are our own.",
            Sample(
                "A stride that opens outwards.", {"rx": 0.2, "ry": -0.3, "rz": 0.2}, {"ry": 0.3}
            ),
        ),
        ShippedRobot(
            "exo_ankle",
            "exo_joints:generate_ankle",
            "Exoskeleton ankle",
            "A foot that three motors turn almost about the wearer's ankle: an Active Ankle "
            "(3-R[2-SS], 21 joints), which has no closed form here and is solved by Newton's "
            "method.",
            "The mechanism of the Recupera-Reha suit's ankle in S. Kumar and Mueller 2019, "
            "Table 3; dimensions and masses are our own.",
            Sample("The foot tips and rolls.", {"rx": 0.2, "ry": 0.3, "rz": -0.1}, {"ry": -0.3}),
        ),
        ShippedRobot(
            "geared_quadruped",
            "geared_quadruped:generate",
            "Geared quadruped",
            "A quadruped with a free base and 12 geared joints; the 12 rotors are bodies of their "
            "own, coupled to the joints.",
            "Of Mini Cheetah's kind, as modelled by Chignoli et al.; size, ratios and rotor "
            "inertias near those of the robot (Katz, Di Carlo and Kim 2019; its open software); "
            "the rest is our own.",
            Sample("A crouch.", _crouch(-1.2, 2.3), _crouch(-0.7, 1.4)),
            floating=True,
        ),
        ShippedRobot(
            "belt_humanoid",
            "belt_humanoid:generate",
            "Belt humanoid",
            "A small humanoid with a free base and 18 actuators. Knee and ankle are driven by "
            "belts from two motors in the thigh, so that one cluster holds two links and two "
            "rotors; all other joints are geared.",
            "Of the MIT Humanoid's kind, as modelled by Chignoli et al.; dimensions, ratios and "
            "masses are sensible numbers of our own.",
            Sample(
                "A squat; the feet stay level.",
                {
                    **_both("_", hip_pitch=-0.8, knee=1.6, ankle=-0.8),
                    **_both("_", shoulder_swing=-0.9, elbow=-0.8),
                },
                _both("_", hip_pitch=-0.2, knee=0.4, ankle=-0.2),
            ),
            floating=True,
        ),
        ShippedRobot(
            "differential_humanoid",
            "differential_humanoid:generate",
            "Differential humanoid",
            "A small humanoid with a free base and 18 actuators. Two motors with cranks and rods "
            "pitch and roll each thigh together (2-RUS+1U); mean and difference of two more move "
            "knee and, through a four-bar, ankle.",
            "Of Tello's kind (Sim and Ramos 2022), as modelled by Chignoli et al., with loops and "
            "linear couplings in place of implicit functions; dimensions, ratios and masses are "
            "sensible numbers of our own.",
            Sample(
                "A squat; the feet stay level.",
                {
                    **_both("_", hip_pitch=-0.7, knee=1.3, ankle=-0.6),
                    **_both("_", shoulder_swing=-0.9, elbow=-0.8),
                },
                _both("_", hip_pitch=-0.2, knee=0.4, ankle=-0.2),
            ),
            floating=True,
        ),
        ShippedRobot(
            "geared_humanoid",
            "geared_humanoid:generate",
            "Geared humanoid",
            "A full-size humanoid with a free base and 32 geared joints; the 32 rotors are bodies "
            "of their own, coupled to the joints.",
            "In the arrangement of JVRC-1's joints, with geared rotors as Chignoli et al. modified "
            "it; dimensions, ratios and masses are sensible numbers of our own.",
            Sample(
                "A squat with raised arms; the feet stay level.",
                {
                    **_both("_", hip_pitch=-0.7, knee=1.3, ankle_pitch=-0.6),
                    **_both("_", shoulder_pitch=-1.2, elbow_pitch=-0.6),
                    "waist_pitch": 0.2,
                    "neck_pitch": 0.1,
                },
                _both("_", hip_pitch=-0.2, knee=0.4, ankle_pitch=-0.2),
            ),
            floating=True,
        ),
        ShippedRobot(
            "geared_chain",
            "chains:geared_chain",
            "Geared chain",
            "A serial chain of 12 links; the rotor of each joint sits on the link before it and "
            "turns it through a gear. `robots.chains.geared_chain(n)` makes one of any length.",
            "The serial chain with geared transmissions (GT) of Chignoli et al., Sec. IX; "
            "dimensions, ratios and masses are our own.",
            Sample(
                "The chain folds up in a zigzag and stretches again.",
                {**_zigzag((2, 4, 6, 8, 10, 12), 0.7), **_zigzag((1, 3, 5, 7, 9, 11), 0.3)},
                duration=3.0,
            ),
        ),
        ShippedRobot(
            "belt_chain",
            "chains:belt_chain",
            "Belt chain",
            "A serial chain of 12 links in pairs; both rotors of a pair sit on the link before it, "
            "and the second one drives through a belt along the first link. "
            "`robots.chains.belt_chain(n)` makes one of any length.",
            "The serial chain with parallel belt transmissions (PBT) of Chignoli et al., Sec. IX; "
            "dimensions, ratios and masses are our own.",
            Sample(
                "The chain folds up in a zigzag and stretches again.",
                {**_zigzag((1, 2, 5, 6, 9, 10), 0.7), **_zigzag((3, 4, 7, 8, 11, 12), 0.3)},
                duration=3.0,
            ),
        ),
    )
}
