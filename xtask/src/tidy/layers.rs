//! Layers: which of our crates may depend on which, and which crates may use an outside crate.

mod outside;
mod places;

use crate::workspace::{Package, Workspace};

use super::Finding;
use outside::{HOMES, PURE_MAY_USE};
use places::{ASIDE, Place, places};

/// The highest layer without I/O, clock and async code.
const PURE: u8 = 2;
/// The layer of what faces people and other programs.
const EDGES: u8 = 4;

/// The longest way from a crate down to one without a crate of ours below it: a change at its end rebuilds them all.
/// Seven is wanted: ADR 31.
const DEPTH: usize = 8;

/// Whether a package is below the edges, in L0–L3.
pub fn is_below_edges(package: &str) -> bool {
    find(package).is_some_and(|place| place.layer < EDGES)
}

/// Whether a package is in L0–L2.
pub fn is_pure(package: &str) -> bool {
    find(package).is_some_and(|place| place.layer <= PURE)
}

/// Whether only development uses a package.
pub fn is_aside(package: &str) -> bool {
    find(package).is_some_and(|place| place.layer == ASIDE)
}

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings: Vec<Finding> = workspace.packages.iter().flat_map(check_package).collect();
    let gone = places().filter(|place| {
        workspace
            .packages
            .iter()
            .all(|package| package.name != place.name)
    });
    findings.extend(gone.map(|place| {
        Finding::new(
            "xtask/src/tidy/layers.rs",
            format!(
                "`{}` is no member any more; remove it from the table",
                place.name
            ),
        )
    }));
    let chains = workspace
        .packages
        .iter()
        .map(|of| chain(&workspace.packages, of));
    findings.extend(chains.filter_map(too_deep));
    findings
}

/// The longest chain of our crates below this one, which ends with it. Cargo allows no cycle.
fn chain<'p>(packages: &'p [Package], of: &'p Package) -> Vec<&'p str> {
    let below = |package: &&Package| {
        let mut on = of.dependencies.iter().filter(|on| !on.is_dev());
        on.any(|on| on.name == package.name)
    };
    let chains = packages.iter().filter(below);
    let chains = chains.map(|below| chain(packages, below));
    let mut longest = chains.max_by_key(Vec::len).unwrap_or_default();
    longest.push(&of.name);
    longest
}

fn too_deep(chain: Vec<&str>) -> Option<Finding> {
    let (steps, last) = (chain.len().saturating_sub(1), chain.last()?);
    let message = format!(
        "{steps} steps down, at most {DEPTH}: {}; let a crate take by a trait what it now builds on",
        chain.join(", ")
    );
    (steps > DEPTH).then(|| Finding::new(format!("crates/{last}/Cargo.toml"), message))
}

fn find(package: &str) -> Option<&'static Place> {
    places().find(|place| place.name == package)
}

fn check_package(package: &Package) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", package.folder);
    let Some(place) = find(&package.name) else {
        let message =
            "give this crate its layer in xtask/src/tidy/layers.rs and in ARCHITECTURE.md";
        return vec![Finding::new(manifest, message)];
    };
    let complaints =
        package
            .dependencies
            .iter()
            .filter_map(|dependency| match find(&dependency.name) {
                Some(other) => arrow(place, other, dependency.is_dev()),
                None if dependency.is_dev() => None,
                None => outside(place, &dependency.name),
            });
    complaints
        .map(|message| Finding::new(manifest.clone(), message))
        .collect()
}

/// Why `from` must not depend on `to`, if so. Both are our crates.
fn arrow(from: &Place, to: &Place, is_dev: bool) -> Option<String> {
    let (a, b) = (from.name, to.name);
    if to.layer == ASIDE {
        return (!is_dev)
            .then(|| format!("`{b}` is for tests alone; move it to [dev-dependencies]"));
    }
    if from.not.contains(&b) && !is_dev {
        return Some(format!(
            "`{a}` must not use `{b}`; go through the interface of the layer below it"
        ));
    }
    if to.layer < from.layer || from.beside.contains(&b) {
        return None;
    }
    Some(format!(
        "`{a}` (L{}) must not lean on `{b}` (L{}); arrows point downwards, so move the shared part below both",
        from.layer, to.layer
    ))
}

/// Why `from` must not use this outside crate, if so.
fn outside(from: &Place, to: &str) -> Option<String> {
    let home = HOMES.iter().find(|(name, _)| *name == to);
    if let Some((_, homes)) = home.filter(|(_, homes)| !homes.contains(&from.name)) {
        return Some(format!(
            "`{to}` may be used only in {}; ask that crate for what is needed",
            homes.join(", ")
        ));
    }
    let impure = from.layer <= PURE && !PURE_MAY_USE.contains(&to);
    impure.then(|| {
        format!("`{to}` is not among what L0–L2 may use; if it has no input, output, clock and asynchrony, add it to PURE_MAY_USE")
    })
}

#[cfg(test)]
mod tests {
    use crate::workspace::Dependency;

    use super::*;

    fn complaints(name: &str, on: &str, kind: Option<&str>) -> Vec<String> {
        let dependency = Dependency {
            name: on.to_owned(),
            kind: kind.map(str::to_owned),
        };
        let package = Package {
            name: name.to_owned(),
            manifest_path: "Cargo.toml".into(),
            dependencies: vec![dependency],
            folder: format!("crates/{name}"),
        };
        check_package(&package)
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_chain_of_crates_is_at_most_seven_steps_long() {
        let package = |number: usize, kind: Option<&str>| Package {
            name: number.to_string(),
            manifest_path: "Cargo.toml".into(),
            dependencies: (0..number)
                .map(|below| Dependency {
                    name: below.to_string(),
                    kind: kind.map(str::to_owned),
                })
                .collect(),
            folder: format!("crates/{number}"),
        };
        let packages: Vec<Package> = (0..10).map(|number| package(number, None)).collect();
        assert_eq!(chain(&packages, &packages[3]), ["0", "1", "2", "3"]);
        let found: Vec<bool> = (packages.iter())
            .map(|of| too_deep(chain(&packages, of)).is_some())
            .collect();
        assert_eq!(found.iter().position(|found| *found), Some(DEPTH + 1));
        let tests_alone = package(8, Some("dev"));
        assert_eq!(chain(&packages, &tests_alone), ["8"]);
    }

    #[test]
    fn arrows_point_downwards() {
        assert!(complaints("selfsame-openid4vc", "selfsame-crypto", None).is_empty());
        assert!(
            complaints("selfsame-did", "selfsame-openid4vc", None)[0].contains("must not lean on")
        );
    }

    #[test]
    fn a_neighbour_needs_to_be_named() {
        assert!(complaints("selfsame-credential", "selfsame-did", None).is_empty());
        assert!(!complaints("selfsame-did", "selfsame-credential", None).is_empty());
    }

    #[test]
    fn tests_do_not_turn_an_arrow_round() {
        assert!(!complaints("selfsame-crypto", "selfsame-app", Some("dev")).is_empty());
    }

    #[test]
    fn who_embeds_tls_embeds_no_registry() {
        assert!(!complaints("selfsame-tls", "selfsame-registry", None).is_empty());
        assert!(!complaints("selfsame-tls", "selfsame-anoncreds", None).is_empty());
        assert!(complaints("selfsame-tls", "selfsame-registry", Some("dev")).is_empty());
    }

    #[test]
    fn a_node_on_cometbft_has_no_roles() {
        assert!(!complaints("selfsame-abci", "selfsame-app", None).is_empty());
    }

    #[test]
    fn the_wallet_and_the_roles_of_organisations_do_not_know_each_other() {
        assert!(!complaints("selfsame-wallet", "selfsame-openid", None).is_empty());
        assert!(!complaints("selfsame-openid", "selfsame-wallet", None).is_empty());
        assert!(!complaints("selfsame-openid", "selfsame-accounts", None).is_empty());
    }

    #[test]
    fn the_kernel_of_the_server_knows_no_use_case_and_no_face() {
        assert!(!complaints("selfsame-http", "selfsame-app", None).is_empty());
        assert!(!complaints("selfsame-http", "selfsame-server", None).is_empty());
        assert!(!complaints("selfsame-http", "askama", None).is_empty());
        assert!(!complaints("selfsame-server", "hyper", None).is_empty());
    }

    #[test]
    fn endpoints_take_the_instance_by_a_trait_and_know_no_page() {
        for other in ["selfsame-app", "selfsame-server", "selfsame-pages"] {
            assert!(!complaints("selfsame-endpoints", other, None).is_empty());
        }
    }

    #[test]
    fn pages_know_no_instance_no_route_and_no_status() {
        for other in ["selfsame-app", "selfsame-http", "selfsame-server", "axum"] {
            assert!(!complaints("selfsame-pages", other, None).is_empty());
        }
        for other in ["selfsame-http", "selfsame-agent", "axum"] {
            assert!(!complaints("selfsame-agent-pages", other, None).is_empty());
        }
        for face in ["selfsame-server", "selfsame-agent-ui"] {
            assert!(!complaints(face, "askama", None).is_empty());
        }
    }

    #[test]
    fn the_kernel_of_the_commands_knows_no_instance_and_a_family_no_server() {
        assert!(!complaints("selfsame-terminal", "selfsame-app", None).is_empty());
        assert!(!complaints("selfsame-terminal", "selfsame-network", None).is_empty());
        assert!(complaints("selfsame-tls-commands", "selfsame-terminal", None).is_empty());
        for server in [
            "selfsame-server",
            "selfsame-http",
            "selfsame-openid",
            "selfsame-wallet",
        ] {
            assert!(!complaints("selfsame-tls-commands", server, None).is_empty());
        }
        assert!(!complaints("selfsame", "tracing-subscriber", None).is_empty());
    }

    #[test]
    fn the_server_goes_through_the_use_cases() {
        assert!(!complaints("selfsame-server", "selfsame-store", None).is_empty());
    }

    #[test]
    fn the_testkit_is_for_tests_alone() {
        assert!(complaints("selfsame-did", "selfsame-testkit", Some("dev")).is_empty());
        assert!(
            complaints("selfsame-did", "selfsame-testkit", None)[0].contains("dev-dependencies")
        );
    }

    #[test]
    fn sql_stays_at_home() {
        assert!(complaints("selfsame-store", "rusqlite", None).is_empty());
        assert!(complaints("selfsame-app", "rusqlite", None)[0].contains("only in selfsame-store"));
    }

    #[test]
    fn the_pure_layers_have_no_runtime() {
        assert!(complaints("selfsame-did", "tokio", None)[0].contains("L0–L2"));
        assert!(complaints("selfsame-did", "tokio", Some("dev")).is_empty());
        assert!(complaints("selfsame-store", "tokio", None).is_empty());
    }

    #[test]
    fn a_new_crate_asks_for_its_layer() {
        assert!(complaints("selfsame-new", "serde", None)[0].contains("its layer"));
    }
}
