// What the update() of a ros2_control effort controller computes, without ROS: so it can be tested.
#ifndef EFFORT_CONTROLLER_HPP_
#define EFFORT_CONTROLLER_HPP_

#include <algorithm>
#include <array>

#include "crank_leg.hpp"

class EffortLaw {
public:
    using Joints = std::array<double, CRANK_LEG_M>;
    using Motors = std::array<double, CRANK_LEG_P>;

    struct Reference {
        std::array<double, CRANK_LEG_NY> y;
        Joints yd, ydd;
    };

    // In on_activate(): the state interfaces have been read once.
    crank_leg::Status activate(const Motors &u)
    {
        robot_.reset();
        return robot_.locate(u);
    }

    // In update(): feedforward of the reference, feedback on the motors. Real-time safe.
    crank_leg::Status update(const Reference &reference, const Motors &u, const Motors &ud, Motors &effort)
    {
        std::array<double, CRANK_LEG_NQ> q;
        std::array<double, CRANK_LEG_N> qd, qdd;
        std::array<double, 1> residual;
        Motors tau{};
        auto status = robot_.state(reference.y, reference.yd, reference.ydd, q, residual, qd, qdd);
        if (status == crank_leg::Status::ok) {
            status = robot_.inverse_dynamics(reference.y, reference.yd, reference.ydd, tau);
        }
        if (status != crank_leg::Status::ok) {
            return status;  // the controller keeps its last command, or brakes: its own decision
        }
        for (std::size_t k = 0; k < tau.size(); ++k) {
            const std::size_t j = motor_in_q[k];
            tau[k] += stiffness * (q[j] - u[k]) + damping * (qd[j] - ud[k]);
            effort[k] = std::clamp(tau[k], -crank_leg_actuator_effort[k], crank_leg_actuator_effort[k]);
        }
        return status;
    }

    std::array<std::size_t, CRANK_LEG_P> motor_in_q{};  // found by name in on_configure()
    double stiffness = 40.0, damping = 1.0;

private:
    crank_leg::Robot robot_;
};

#endif
