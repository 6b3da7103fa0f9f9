"""Which elements each thread of a GPU reads and writes, as maps from the launch's coordinates."""

from ops.schedules.launch import LaunchDimensions
from ops.schedules.loop import loop_schedule
from ops.schedules.schedule import Access, Schedule

__all__ = ["Access", "LaunchDimensions", "Schedule", "loop_schedule"]
