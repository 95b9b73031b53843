//! When a setting takes effect.

/// The settings that SIGHUP rereads, as `section.setting`; a section alone stands for all its settings.
pub const REREAD: [&str; 5] = [
    "tls.hosts",
    "trust.certificates",
    "trust.issuers",
    "trust.types",
    "trust.verifiers",
];

/// When a changed setting takes effect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effect {
    /// On SIGHUP, such as `systemctl reload selfsame`.
    Reload,
    /// At the next start.
    Restart,
}

impl Effect {
    /// That of the setting with this path, such as `trust.issuers`.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let is_below = |reread: &&str| {
            let rest = path.strip_prefix(*reread);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        match REREAD.iter().any(is_below) {
            true => Self::Reload,
            false => Self::Restart,
        }
    }

    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Reload => "reload",
            Self::Restart => "restart",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_names_exactly_what_sighup_rereads() {
        let page = include_str!("../../../docs/settings.md");
        let mut lines = page.lines();
        let line = lines.find(|line| line.contains("rereads these settings"));
        let named: Vec<&str> = line.unwrap().split('`').skip(3).step_by(2).collect();
        assert_eq!(named, REREAD);
    }

    #[test]
    fn what_sighup_rereads_reloads_with_all_below_it_and_everything_else_needs_a_restart() {
        for path in ["trust.issuers", "trust.types.a", "tls.hosts.names"] {
            assert_eq!(Effect::of(path), Effect::Reload, "{path}");
        }
        for path in ["trust.origins", "trust", "tls.listen", "trust.issuers_more"] {
            assert_eq!(Effect::of(path), Effect::Restart, "{path}");
        }
    }
}
