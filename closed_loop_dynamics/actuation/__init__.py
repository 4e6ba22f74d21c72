"""Between actuators and independent joints, as hardware has it: ``robot.actuation``."""
