/* @TITLE@
 *
 * Made by closed_loop_dynamics from the programs that it runs in Python; do not edit.
 * Plain C99 (this header C++ as well): needs <math.h> only, allocates nothing, prints nothing, waits for nobody.
 *
 * Vectors (SI units; angular before linear; matrices row by row; all numbers are `real`):
@VECTORS@
 *
 * Every function returns a status and writes its results only where that is ROBOT_OK. It works in
 * a robot_memory that the caller owns: one for each thread, robot_init() before the first call.
 * Nothing else is shared but constants.
 *
 * Worst case of every function, in sums, products, quotients and calls of <math.h> (all Newton
 * iterations counted; comparisons and copies are not):
@COSTS@
 */
#ifndef ROBOT_H_
#define ROBOT_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Lengths of y, of yd, ydd and tau_y, of q, of qd and qdd, and of u, ud and tau_u. */
@SIZES@

/* At most so many iterations for every loop that has no closed form. */
#define ROBOT_NEWTON_ITERATIONS @ITERATIONS@

/* What a call came to; memory.where says where. */
enum {
    ROBOT_OK = 0,
    /* A number is not finite or larger than @LARGEST@ (where: its place in all arguments, counted
     * on from vector to vector), or a quaternion or a spring has no length. In Python: InvalidInput. */
    ROBOT_INVALID_INPUT = 1,
    /* A loop (where: its submechanism) does not close at y to tolerance, a closed form is not proved there, or
     * Newton's method has no start that certainly leads to the branch. In Python: ClosureNotFound,
     * after a search along the branch that this library does not make. */
    ROBOT_CLOSURE_NOT_FOUND = 2,
    /* The branch guard: a loop is singular there or on another assembly mode. In Python:
     * ClosureNotFound as well. */
    ROBOT_BRANCH = 3,
    /* The actuators of a submechanism cannot drive it there. In Python: ActuationSingular. */
    ROBOT_ACTUATION_SINGULAR = 4,
    /* The reduced inertia of a submechanism is not positive definite. In Python: SingularInertia. */
    ROBOT_SINGULAR_INERTIA = 5
};

/* What a thread computes in. Read `where` and `iterations`; the rest is ours. */
typedef struct {
    int where;      /* after a refusal: see the status; otherwise without meaning */
    int iterations; /* of Newton's method, in the newest call, all loops together */
@MEMORY@
} robot_memory;

/* Forget everything: a new memory, or one that begins again at the reference configuration. */
void robot_init(robot_memory *memory);

/* A few words in English. */
const char *robot_status_text(int status);

/* Names, in the order of y, q and u, and of the submechanisms that `where` counts. */
@NAMES@

/* Limits of the actuators from the robot's file, in the order of u; INFINITY where there is none. */
extern const real robot_actuator_lower[@P1@];
extern const real robot_actuator_upper[@P1@];
extern const real robot_actuator_velocity[@P1@];
extern const real robot_actuator_effort[@P1@];

/* A configuration on the branch of every loop, y and u, to begin with. */
extern const real robot_reference[@NY1@];
extern const real robot_reference_u[@P1@];

@PROTOTYPES@
#ifdef __cplusplus
}
#endif

#endif
