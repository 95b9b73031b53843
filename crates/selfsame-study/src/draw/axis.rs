//! An axis: where a value is, and which values are written beside it.

use crate::number::number;

/// An axis from one value to another, drawn from one place to another.
#[derive(Clone, Copy, Debug)]
pub struct ChartAxis {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
    is_log: bool,
}

/// The places of an axis in the drawing.
#[derive(Clone, Copy, Debug)]
pub struct AxisPlaces {
    /// Where the least value is.
    pub from: f64,
    /// Where the most is.
    pub to: f64,
}

impl ChartAxis {
    /// A linear axis from zero, with a little room above the largest value.
    pub fn linear(values: impl Iterator<Item = f64>, places: AxisPlaces) -> Self {
        let most = values
            .filter(|value| value.is_finite())
            .fold(0.0, f64::max)
            .max(1e-9);
        Self::new(0.0, most * 1.04, places, false)
    }

    /// A linear axis between two values.
    pub fn between(least: f64, most: f64, places: AxisPlaces) -> Self {
        Self::new(least, most.max(least + 1e-9), places, false)
    }

    /// A logarithmic axis over whole powers of ten that hold all positive values.
    pub fn log(values: impl Iterator<Item = f64> + Clone, places: AxisPlaces) -> Self {
        let values = values.filter(|value| *value > 0.0 && value.is_finite());
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(0.0, f64::max);
        if !least.is_finite() {
            return Self::new(0.1, 10.0, places, true);
        }
        let (least, most) = (least.log10().floor(), most.log10().ceil());
        let most = if most > least { most } else { least + 1.0 };
        Self::new(10_f64.powf(least), 10_f64.powf(most), places, true)
    }

    fn new(least: f64, most: f64, places: AxisPlaces, is_log: bool) -> Self {
        Self {
            least,
            most,
            from: places.from,
            to: places.to,
            is_log,
        }
    }

    /// Where a value is.
    pub fn at(&self, value: f64) -> f64 {
        let share = if self.is_log {
            let value = value.max(self.least);
            (value / self.least).log10() / (self.most / self.least).log10()
        } else {
            (value - self.least) / (self.most - self.least)
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// The values that are written beside it.
    pub fn ticks(&self) -> Vec<f64> {
        if self.is_log {
            let decades = (self.most / self.least).log10().round();
            let step = if decades > 6.0 { 100.0 } else { 10.0 };
            let powers = std::iter::successors(Some(self.least), |value| Some(value * step));
            return powers
                .take_while(|value| *value <= self.most * 1.001)
                .collect();
        }
        let step = round_step((self.most - self.least) / 4.0);
        let first = (self.least / step).ceil() * step;
        let ticks = std::iter::successors(Some(first), |value| Some(value + step));
        ticks
            .take_while(|value| *value <= self.most * 1.000_1)
            .collect()
    }

    /// What is written beside a tick.
    pub fn label(value: f64) -> String {
        // Sums of steps such as 0.1 end in further digits.
        number((value * 1e6).round() / 1e6)
    }
}

/// 1, 2, 2.5 or 5 times a power of ten, not below this.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.max(1e-9).log10().floor());
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    let fits = factors.into_iter().find(|one| one * power >= step * 0.999);
    fits.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: AxisPlaces = AxisPlaces {
        from: 0.0,
        to: 100.0,
    };

    #[test]
    fn a_logarithmic_axis_has_its_powers_of_ten() {
        let axis = ChartAxis::log([2.0, 3100.0].into_iter(), PLACES);
        assert_eq!(axis.ticks(), [1.0, 10.0, 100.0, 1_000.0, 10_000.0]);
        assert!((axis.at(100.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn a_linear_axis_has_round_steps() {
        let axis = ChartAxis::linear([120.0].into_iter(), PLACES);
        let ticks: Vec<String> = axis.ticks().into_iter().map(ChartAxis::label).collect();
        assert_eq!(ticks, ["0", "50", "100"]);
    }

    #[test]
    fn an_axis_without_values_can_be_drawn() {
        let axis = ChartAxis::log(std::iter::empty(), PLACES);
        assert!(axis.at(0.0).is_finite() && axis.ticks().len() > 1);
    }
}
