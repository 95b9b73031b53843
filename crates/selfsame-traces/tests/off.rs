//! While tracing is off, spans cost nothing that could be counted.

use std::alloc::System;

use cap::Cap;
use selfsame_traces::{Attribute, SpanEnd, SpanKind, continued, present, reading, resumed, span};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

#[test]
fn while_tracing_is_off_a_span_allocates_nothing_and_is_few_bytes() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let stored = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        .parse()
        .ok();
    let answered = runtime.block_on(async {
        // From here on an allocation fails, which ends the process.
        ALLOCATOR.set_limit(ALLOCATOR.allocated()).unwrap();
        let mut sum = 0;
        for number in 0..1_000_usize {
            let work = async {
                assert!(present().is_none());
                Ok::<_, ()>(number)
            };
            let inner = span("inner", SpanKind::Internal)
                .with(|| Attribute::RecordKind("offer".to_owned()))
                .watch(work, SpanEnd::of);
            let outer = continued(stored, "outer").run(resumed(stored, "resumed").run(inner));
            sum += reading("read", "offer", outer).await.unwrap();
        }
        assert!(selfsame_traces::outgoing().is_none());
        ALLOCATOR.set_limit(usize::MAX).unwrap();
        sum
    });
    assert_eq!(answered, 499_500);
    let plain = async {};
    let bare = size_of_val(&plain);
    assert!(size_of_val(&span("s", SpanKind::Client).run(plain)) <= bare + 32);
}
