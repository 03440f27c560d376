"""Experiments on labelled pools: arms as data beside a reference, each difference with what it resolves.

Open `experiments/features.py` first: it is a whole experiment. `Experiment` declares, `Setting` is what it runs on,
a `Recipe` makes an `Arm` of a `Subject`, `compare` sets arms beside a reference, and a `Finding` holds what came of it.
"""

from bestofn.ablation.arm import Arm as Arm
from bestofn.ablation.arm import Lacking as Lacking
from bestofn.ablation.comparison import Comparison as Comparison
from bestofn.ablation.comparison import compare as compare
from bestofn.ablation.experiment import Experiment as Experiment
from bestofn.ablation.finding import Chart as Chart
from bestofn.ablation.finding import Finding as Finding
from bestofn.ablation.finding import Piece as Piece
from bestofn.ablation.finding import Points as Points
from bestofn.ablation.finding import PValue as PValue
from bestofn.ablation.finding import Series as Series
from bestofn.ablation.finding import Share as Share
from bestofn.ablation.finding import Sheet as Sheet
from bestofn.ablation.recipe import Made as Made
from bestofn.ablation.recipe import Recipe as Recipe
from bestofn.ablation.setting import Setting as Setting
from bestofn.ablation.subject import Subject as Subject
