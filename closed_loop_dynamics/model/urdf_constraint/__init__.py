"""URDF whose ``<constraint>`` (or Isaac Sim's ``<loop_joint>``) elements close loops."""
