/* ---- what all functions share ------------------------------------------------------------- */

/* A value that must be positive, and what it means when it is not. */
struct check {
    int status, where;
};

/* Numbers that are not finite, or beyond what sine and cosine are good for, are refused. */
static int look_over(robot_memory *memory, const real *values, int count, int first)
{
    for (int i = 0; i < count; i++) {
        if (!(fabs(values[i]) <= LARGEST_INPUT)) {
            memory->where = first + i;
            return ROBOT_INVALID_INPUT;
        }
    }
    return ROBOT_OK;
}

static int judge(robot_memory *memory, const real *values, const struct check *checks, int count)
{
    for (int i = 0; i < count; i++) {
        if (!(values[i] > 0.0)) { /* not a number is not positive either */
            memory->where = checks[i].where;
            return checks[i].status;
        }
    }
    return ROBOT_OK;
}

static void copy(const real *from, real *to, int count)
{
    for (int i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

const char *robot_status_text(int status)
{
    switch (status) {
    case ROBOT_OK:
        return "ok";
    case ROBOT_INVALID_INPUT:
        return "an input is not a finite number of moderate size";
    case ROBOT_CLOSURE_NOT_FOUND:
        return "a loop does not close there, or not where it is known how";
    case ROBOT_BRANCH:
        return "a loop would meet a singularity or change its assembly mode";
    case ROBOT_ACTUATION_SINGULAR:
        return "the actuators cannot drive the independent joints there";
    case ROBOT_SINGULAR_INERTIA:
        return "the reduced inertia is not positive definite";
    default:
        return "no status of this library";
    }
}
