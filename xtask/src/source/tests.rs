//! Tests of the parser of Rust files.

use super::*;

fn parse(text: &str) -> Source {
    Source::parse("x", "crates/x", "crates/x/src/a.rs", text).unwrap()
}

#[test]
fn tests_are_cut_from_a_files_length() {
    let source = parse("//! Doc.\nfn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n");
    assert_eq!(source.lines, 2);
    assert_eq!(source.functions.len(), 1);
}

#[test]
fn what_is_left_out_of_tests_is_not_a_test() {
    let source = parse("#[cfg(not(test))]\nfn a() {}\n");
    assert_eq!(source.lines, 2);
}

#[test]
fn braces_in_text_do_not_confuse_a_functions_length() {
    let source = parse("fn a() {\n    // }\n\n    let _ = (\"}\", '}', r#\"}\"#);\n}\nfn b() {}\n");
    assert_eq!(source.functions[0].lines, 3);
    assert_eq!(source.functions[1].line, 6);
}

#[test]
fn paths_are_found_in_imports_expressions_and_macros() {
    let source = parse(
        "use std::{fs, time::{self, Instant as Clock}};\nfn a() {\n    std::env::var(\"X\");\n    println!(\"{}\", std::net::lookup());\n}\n",
    );
    let found = |path: &str| {
        source
            .paths
            .iter()
            .find(|(named, _)| named == path)
            .map(|(_, line)| *line)
    };
    assert_eq!(found("std::fs"), Some(1));
    assert_eq!(found("std::time"), Some(1));
    assert_eq!(found("std::time::Instant"), Some(1));
    assert_eq!(found("std::env::var"), Some(3));
    assert_eq!(found("std::net::lookup"), Some(4));
}

#[test]
fn async_is_found_in_signatures_blocks_and_macros() {
    let source =
        parse("async fn a() {}\nfn b() { let _ = async { 1 }; }\nfn c() { m!(x.await) }\n");
    assert_eq!(source.asynchronous, [1, 2, 3]);
}

#[test]
fn each_name_of_a_public_import_counts() {
    let source = parse("pub mod a;\npub use a::{B, C, d::*};\nuse a::E;\nfn f() {}\n");
    assert_eq!(source.public_items, 4);
    assert_eq!(source.public_globs, [2]);
}

#[test]
fn a_module_declared_for_tests_alone_is_a_test_file() {
    let declare = "#[cfg(test)]\nmod checks;\nmod real;\n";
    let parse = |path, text| Source::parse("x", "crates/x", path, text).unwrap();
    let mut sources = [
        parse("crates/x/src/lib.rs", declare),
        parse("crates/x/src/checks.rs", ""),
        parse("crates/x/src/checks/deep.rs", ""),
        parse("crates/x/src/checksum.rs", ""),
        parse("crates/x/tests/all.rs", ""),
    ];
    mark_tests(&mut sources);
    let only: Vec<bool> = sources.iter().map(|source| source.test_only).collect();
    assert_eq!(only, [false, true, true, false, true]);
}

#[test]
fn texts_are_found_with_whether_something_is_compared_with_them() {
    let source = parse(
        "/// doc\nconst A: &str = \"a\";\nfn f(x: &str) -> bool {\n    let _ = format!(\"b\", g(\"c\"));\n    \
         x == \"d\" || matches!(x, \"e\" | \"f\")\n        || [\"g\", g(\"h\")].contains(&x) || x.starts_with(\"i\")\n}\n\
         fn g(x: &str) -> &str { match x { \"j\" => \"k\", _ => x } }\n\
         const L: &[(u8, &str)] = &[(1, \"l\")];\n",
    );
    let found = |is_compared: bool| -> String {
        let literals = source.literals.iter();
        let meant = literals.filter(|literal| literal.is_compared == is_compared);
        meant.map(|literal| literal.text.as_str()).collect()
    };
    assert_eq!(found(false), "abchk");
    assert_eq!(found(true), "defgijl");
    assert_eq!(source.literals[0].line, 2);
}
