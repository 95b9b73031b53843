//! `selfsame size`: cores, memory and storage for the sign-ins of a number of people, from measured figures.

use std::path::PathBuf;

use clap::Args;
use selfsame_sign_in_bench::sizing::{FiguresError, FlowShare, SizeDemand, SizeFigures, SizePlan};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

/// Work out cores, memory and storage for the sign-ins of a number of people.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame size --people 4000000 --peak 10 --flow esignet-rsa=80 --flow standard=20

docs/sizing.md explains each number. With your own machine's figures:
  selfsame bench signin --json > figures.json
  selfsame size --people 4000000 --figures figures.json"
)]
pub struct Size {
    /// How many people there are.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    people: u64,
    /// The share of them who sign in within the busiest hour.
    #[arg(long, value_name = "PERCENT", default_value = "10", value_parser = share)]
    peak: f64,
    /// The rate at the busiest moment over the average of that hour.
    #[arg(long, value_name = "TIMES", default_value = "2", value_parser = positive)]
    burst: f64,
    /// How they sign in: esignet-rsa, esignet-ec or standard, with its share in percent; repeated for several.
    #[arg(long, value_name = "FLOW[=PERCENT]", default_value = "esignet-rsa=100")]
    flow: Vec<FlowShare>,
    /// The time in which the identity system answers a call, in milliseconds.
    #[arg(long, value_name = "MS", default_value = "1000", value_parser = positive)]
    identity_ms: f64,
    /// How many relying parties a person signs in to.
    #[arg(long, value_name = "NUMBER", default_value = "3", value_parser = positive)]
    parties: f64,
    /// How many times a person signs in in a year.
    #[arg(long, value_name = "NUMBER", default_value = "24", value_parser = positive)]
    sign_ins_year: f64,
    /// For how many days logs are kept.
    #[arg(long, value_name = "DAYS", default_value = "30", value_parser = positive)]
    log_days: f64,
    /// How busy cores may be at the busiest moment.
    #[arg(long, value_name = "PERCENT", default_value = "60", value_parser = share)]
    busy: f64,
    /// The cores of each process.
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    cores: u32,
    /// The database's cores in percent of the providers'. It is not measured.
    #[arg(long, value_name = "PERCENT", default_value = "50", value_parser = positive)]
    database: f64,
    /// A file with the output of `selfsame bench signin --json`, in place of the built-in figures.
    #[arg(long, value_name = "FILE")]
    figures: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl Size {
    /// Works it out and prints it.
    pub fn run(self) -> End {
        let (figures, is_json) = (self.figures(), self.json);
        let demand = self.demand();
        if !demand.is_whole() {
            let failure = Failure::environment("the shares of --flow are not 100 % together");
            return Err(failure.hint("for example --flow esignet-rsa=80 --flow standard=20"));
        }
        let plan = SizePlan::of(&demand, &figures?);
        output::either(is_json, &plan, SizePlan::lines);
        Ok(Answer::Yes)
    }

    fn figures(&self) -> Result<SizeFigures, Failure> {
        let Some(file) = &self.figures else {
            let failed = |error: FiguresError| {
                let failure = Failure::environment(error.to_string());
                failure
                    .hint("--figures names a file with what `selfsame bench signin --json` printed")
            };
            return SizeFigures::built_in().map_err(failed);
        };
        let named = |error: &dyn std::fmt::Display| {
            Failure::environment(format!("{}: {error}", file.display()))
        };
        let text = std::fs::read_to_string(file).map_err(|error| named(&error))?;
        SizeFigures::read(&text).map_err(|error| named(&error))
    }

    fn demand(self) -> SizeDemand {
        SizeDemand {
            people: self.people,
            peak_percent: self.peak,
            burst: self.burst,
            flows: self.flow,
            identity_ms: self.identity_ms,
            parties: self.parties,
            sign_ins_year: self.sign_ins_year,
            log_days: self.log_days,
            busy_percent: self.busy,
            process_cores: self.cores,
            database_percent: self.database,
        }
    }
}

/// A percentage above 0, of at most 100.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 100.0 => Ok(share),
        _ => Err("not a percentage above 0, of at most 100".to_owned()),
    }
}

/// A number above 0.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("not a number above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        size: Size,
    }

    fn size(arguments: &[&str]) -> Result<Size, clap::Error> {
        let all = ["size", "--people", "4000000"].iter().chain(arguments);
        Command::try_parse_from(all).map(|command| command.size)
    }

    #[test]
    fn people_alone_are_enough() {
        let demand = size(&[]).unwrap().demand();
        assert!(demand.is_whole());
        assert_eq!(demand.people, 4_000_000);
    }

    #[test]
    fn shares_that_are_not_all_of_the_sign_ins_are_refused() {
        let parts = ["--flow", "esignet-rsa=80", "--flow", "standard=10"];
        assert!(!size(&parts).unwrap().demand().is_whole());
    }

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        for wrong in [
            ["--peak", "0"],
            ["--peak", "101"],
            ["--busy", "NaN"],
            ["--burst", "-1"],
            ["--identity-ms", "inf"],
            ["--cores", "0"],
        ] {
            assert!(size(&wrong).is_err(), "{wrong:?}");
        }
    }
}
