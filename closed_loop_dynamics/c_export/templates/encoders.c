
/* y from u by the loops' actuators, then refined: at once but for functions and redundant encoders. */
int robot_encoders(robot_memory *memory, const real *u, const real *ud, real *y, real *yd, real *q, real *qd)
{
    real y_now[@NY1@], yd_now[@M1@], dy[@M1@], residual, largest = INFINITY;
    int iterations, status = look_over(memory, ud, ROBOT_P, ROBOT_P);
    if (status == ROBOT_OK) {
        status = encoder_start(memory, 0, u, y_now);
    }
#if N_ENCODER_LOOPS
    if (status > ROBOT_INVALID_INPUT) { /* no node of a coarse table leads there: from the newest reading, then */
        iterations = memory->iterations;
        status = step_along(memory, u, y_now);
        memory->iterations += iterations;
    }
#endif
    for (int round = 0; status == ROBOT_OK && round < ENCODER_STEPS && !(largest <= ENCODER_TOLERANCE); round++) {
        iterations = memory->iterations;
        status = robot_encoder_step(memory, y_now, u, ud, dy, yd_now);
        memory->iterations += iterations;
        if (status != ROBOT_OK) {
            break;
        }
        for (int k = 0; round == 0 && k < N_EXACT; k++) {
            if (!(fabs(dy[exact[k].place]) <= SAME_CONFIGURATION)) { /* the encoders' loop is on another branch */
                memory->where = exact[k].submechanism;
                return ROBOT_BRANCH;
            }
        }
        largest = 0.0;
        for (int k = FIRST_JOINT; k < ROBOT_M; k++) {
            real *const joint = y_now + k + ROBOT_NY - ROBOT_M;
            *joint += dy[k];
            largest = fmax(largest, fabs(dy[k]) / fmax(1.0, fabs(*joint)));
        }
    }
    if (status != ROBOT_OK) {
        return status;
    }
    if (!(largest <= ENCODER_TOLERANCE)) {
        memory->where = 0;
        return ROBOT_CLOSURE_NOT_FOUND;
    }
    iterations = memory->iterations;
    status = robot_velocities(memory, y_now, yd_now, q, &residual, qd);
    memory->iterations += iterations;
    if (status == ROBOT_OK) {
        copy(y_now, y, ROBOT_NY);
        copy(yd_now, yd, ROBOT_M);
    }
    return status;
}
