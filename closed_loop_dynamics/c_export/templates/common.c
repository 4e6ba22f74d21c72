/* ---- what all functions share ------------------------------------------------------------- */

#if defined __FAST_MATH__ || (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__ > 0)
#error "without NaN (-ffast-math, -ffinite-math-only) bad inputs would not be refused"
#endif

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
