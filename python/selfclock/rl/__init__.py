"""A path as a learning environment for Gymnasium: once per control interval an agent sets window or pacing of one flow.

>>> import gymnasium, selfclock.rl
>>> environment = gymnasium.make("selfclock/Congestion-v0", rate="20 Mbps", rtt="40 ms", competitors=["cubic"])
>>> many = gymnasium.make_vec("selfclock/Congestion-v0", num_envs=64, rate=("5 Mbps", "50 Mbps"))

Importing it makes the name known. It needs the extra `rl`: pip install 'selfclock[rl]'.
"""

try:
    import gymnasium
except ImportError:
    raise ImportError("selfclock.rl needs Gymnasium: pip install 'selfclock[rl]'") from None

from selfclock.rl.action import Action
from selfclock.rl.environment import CongestionEnv, CongestionVectorEnv
from selfclock.rl.observation import FEATURES, Feature
from selfclock.rl.path import Path
from selfclock.rl.reward import Interval, LinearReward, Reward

#: The name for `gymnasium.make` and `gymnasium.make_vec`.
ID = "selfclock/Congestion-v0"

if ID not in gymnasium.registry:
    gymnasium.register(
        ID,
        entry_point="selfclock.rl:CongestionEnv",
        vector_entry_point="selfclock.rl:CongestionVectorEnv",
    )

__all__ = [
    "FEATURES",
    "ID",
    "Action",
    "CongestionEnv",
    "CongestionVectorEnv",
    "Feature",
    "Interval",
    "LinearReward",
    "Path",
    "Reward",
]
