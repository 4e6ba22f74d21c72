"""What ``closed-loop demo`` shows, the whole system in one minute.

``system`` starts the nodes ``simulator`` and ``feedforward`` as processes and lets a leg move its
foot up and down; ``offline`` shows a squat by the library alone, where rclpy is not installed.
"""
