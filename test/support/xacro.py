"""A robot of two bars as a package with xacro files."""

ARM = {
    "arm_description/package.xml": "<package><name> arm_description </name></package>",
    "arm_description/urdf/bar.xacro": """<?xml version="1.0"?>
<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="length" value="0.5"/>
  <xacro:macro name="bar" params="name parent">
    <link name="${name}"><inertial><origin xyz="${length / 2} 0 0"/><mass value="$(arg mass)"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
    <joint name="${name}_joint" type="continuous">
      <parent link="${parent}"/><child link="${name}"/>
      <origin xyz="${length} 0 0"/><axis xyz="0 1 0"/></joint>
  </xacro:macro>
</robot>
""",
    "arm_description/urdf/arm.urdf.xacro": """<?xml version="1.0"?>
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="1.0"/>
  <xacro:include filename="$(find arm_description)/urdf/bar.xacro"/>
  <link name="base"/>
  <xacro:bar name="upper" parent="base"/>
  <xacro:bar name="lower" parent="upper"/>
</robot>
""",
}
