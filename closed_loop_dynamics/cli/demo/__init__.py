"""What ``closed-loop demo`` shows in a minute: a leg with closed loops moves its foot up and down.

``system`` starts the nodes ``simulator`` and ``feedforward`` as processes and listens to them;
``offline`` makes the same motion by the library alone, where rclpy is not installed.
"""
