//! `selfsame config check`: every wrong line of a settings file, and when each setting takes effect.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::document::{SettingsDocument, WrongLine};
use crate::effect::Effect;
use crate::files;

/// Check a settings file, before an instance is started with it.
#[derive(Args)]
#[command(after_help = "Example: selfsame config check selfsame.toml")]
pub struct ConfigCommand {
    #[command(subcommand)]
    verb: ConfigVerb,
}

#[derive(Subcommand)]
enum ConfigVerb {
    /// Name every wrong line of a settings file and what to do about it, or else when each setting takes effect.
    ///
    /// Reads the file and the files that it names, as `selfsame up --config FILE` does, and starts nothing. Each setting
    /// takes effect on SIGHUP (reload) or at the next start (restart). Exit codes: 0 the file is right, 1 it is not, 2 it
    /// can't be read.
    #[command(after_help = "Example: selfsame config check selfsame.toml
         selfsame config check --json /etc/selfsame/selfsame.toml

All settings: docs/settings.md")]
    Check(ConfigCheck),
}

#[derive(Args)]
struct ConfigCheck {
    /// The settings file.
    #[arg(default_value = "/etc/selfsame/selfsame.toml")]
    file: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// What the command prints in JSON.
#[derive(Serialize)]
struct CheckedFile {
    file: PathBuf,
    wrong: Vec<WrongLine>,
    settings: Vec<CheckedSetting>,
}

#[derive(Serialize)]
struct CheckedSetting {
    line: usize,
    setting: String,
    /// `reload` or `restart`.
    takes_effect: &'static str,
}

impl ConfigCommand {
    /// Runs the subcommand for a program with these settings. `failures` gives each reason why it could not start with a
    /// file of the right form.
    ///
    /// # Errors
    /// If the file can't be read, or contains a private key.
    pub fn run<Settings: DeserializeOwned>(self, failures: fn(&Path) -> Vec<Failure>) -> End {
        match self.verb {
            ConfigVerb::Check(check) => check.run::<Settings>(failures),
        }
    }
}

impl ConfigCheck {
    fn run<Settings: DeserializeOwned>(self, failures: fn(&Path) -> Vec<Failure>) -> End {
        let text = files::text(&self.file)?;
        files::no_key(&self.file, &text)?;
        let document = SettingsDocument::of(&text);
        let mut faults = document.faults::<Settings>();
        if faults.is_empty() {
            let failures = failures(&self.file);
            let failures = failures.iter();
            faults.extend(failures.map(|it| document.located(it.message(), it.what_to_do())));
        }
        let answer = match faults.is_empty() {
            true => Answer::Yes,
            false => Answer::No,
        };
        let checked = CheckedFile::of(self.file, faults, &document);
        match self.json {
            true => output::json(&checked),
            false => checked.tell(),
        }
        Ok(answer)
    }
}

impl CheckedFile {
    fn of(file: PathBuf, wrong: Vec<WrongLine>, document: &SettingsDocument<'_>) -> Self {
        let settings = document.settings().into_iter().map(|named| CheckedSetting {
            line: named.line,
            takes_effect: Effect::of(&named.path).word(),
            setting: named.setting,
        });
        Self {
            file,
            wrong,
            settings: settings.collect(),
        }
    }

    fn tell(&self) {
        let file = self.file.display();
        for wrong in &self.wrong {
            let line = wrong.line.map(|line| format!(":{line}"));
            let setting = match wrong.setting.is_empty() {
                true => String::new(),
                false => format!("{}: ", wrong.setting),
            };
            let line = line.unwrap_or_default();
            output::say(&format!("{file}{line}: {setting}{}", wrong.message));
            output::say(&format!("  hint: {}", wrong.remedy));
        }
        if !self.wrong.is_empty() {
            return output::say(&format!("{file}: {} faults", self.wrong.len()));
        }
        for setting in &self.settings {
            output::say(&format!(
                "  {:<8} {}",
                setting.takes_effect, setting.setting
            ));
        }
        output::say(&format!(
            "{file}: {} settings, all right. A change takes effect as the first column says: reload on SIGHUP, restart at the next start.",
            self.settings.len()
        ));
    }
}
