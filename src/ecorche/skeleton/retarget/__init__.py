"""Retargeting: a motion made for one skeleton, on another."""

from ecorche.skeleton.retarget.report import RetargetReport
from ecorche.skeleton.retarget.retarget import MODES, Retargeted, retarget
from ecorche.skeleton.retarget.soles import FootSkate

__all__ = ["MODES", "FootSkate", "RetargetReport", "Retargeted", "retarget"]
