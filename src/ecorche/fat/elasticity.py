"""How stiff a tissue is: Young's modulus and Poisson's ratio, and what the Lamé equation makes of them.

The Lamé equation ``ρ a = μ Δd + (μ + λ) ∇(div d) + f`` (thesis, equation 5.1) carries two waves: shear waves
at ``√(μ/ρ)`` and pressure waves at ``√((λ + 2μ)/ρ)``. The thesis names them the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError


@dataclass(frozen=True)
class Tissue:
    """An elastic, slightly viscous, almost incompressible material.

    Attributes:
        young: Young's modulus E: stress over strain when pulled [Pa].
        poisson: Poisson's ratio ν: how much thinner it gets when pulled; 0.5 keeps the volume.
        density: [kg/m³].
        viscosity: How long shear stress takes to follow a sudden strain [s].
        stiffening: By how many times its modulus a tissue is stiffer when sheared by its own thickness.
    """

    young: float
    poisson: float
    density: float = 950.0
    viscosity: float = 0.004
    stiffening: float = 0.0

    def __post_init__(self) -> None:
        where = "material of fat"
        if not 0.0 < self.young < 1e9:
            raise EcorcheError(
                f"Young's modulus is {self.young:g} Pa",
                where=where,
                remedy="Give pascals above 0; fat has some 3,000 to 20,000",
            )
        if not 0.0 <= self.poisson < 0.5:
            raise EcorcheError(
                f"Poisson's ratio is {self.poisson:g}",
                where=where,
                remedy="Give 0 to below 0.5, such as 0.49; at 0.5 pressure waves would be infinitely fast",
            )
        if not self.density > 0.0:
            raise EcorcheError(
                f"the density is {self.density:g} kg/m³", where=where, remedy="Give some 950 for fat"
            )
        if not 0.0 <= self.stiffening <= 100.0:
            raise EcorcheError(
                f"the stiffening is {self.stiffening:g}", where=where, remedy="Give 0, or some 2 for flesh"
            )
        if not self.viscosity >= 0.0:
            raise EcorcheError(
                f"the viscosity is {self.viscosity:g} s", where=where, remedy="Give 0 or some milliseconds"
            )

    @property
    def shear(self) -> float:
        """μ [Pa]."""
        return self.young / (2.0 * (1.0 + self.poisson))

    @property
    def bulk(self) -> float:
        """λ [Pa], Lamé's first constant."""
        return self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))

    @property
    def shear_wave(self) -> float:
        """How fast shear runs through it [m/s]."""
        return float((self.shear / self.density) ** 0.5)

    @property
    def pressure_wave(self) -> float:
        """How fast pressure runs through it [m/s]."""
        return float(((self.bulk + 2.0 * self.shear) / self.density) ** 0.5)


TISSUES = {
    "breast": Tissue(young=2_200.0, poisson=0.49, viscosity=0.01, stiffening=2.0),
    "belly": Tissue(young=2_500.0, poisson=0.49, viscosity=0.01, stiffening=2.0),
    "soft": Tissue(young=1_000.0, poisson=0.49, viscosity=0.008, stiffening=2.0),
    "gel": Tissue(young=3_000.0, poisson=0.49, viscosity=0.001, stiffening=2.0),
    "fat": Tissue(young=10_000.0, poisson=0.495),
    "firm": Tissue(young=25_000.0, poisson=0.49, viscosity=0.003),
}
"""Young's moduli within what is measured of breast and under the skin, 1 to 25 kPa; the rest is ours."""


def tissue_named(name: str) -> Tissue:
    """The tissue of that name; another is refused with the choices."""
    if name not in TISSUES:
        raise EcorcheError(
            f"there is no tissue {name!r}", where="material of fat", remedy=suggestion(name, TISSUES)
        )
    return TISSUES[name]
