//! libFuzzer on `selfsame_testkit::fuzz_bodies::registry_log`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    selfsame_testkit::fuzz_bodies::registry_log(data);
});
