//! The present span of a task: the one that new spans are below.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::context::TraceContext;
use crate::ended::SpanEnd;
use crate::node::SpanNode;
use crate::switch::is_on;

thread_local! {
    static PRESENT: RefCell<Option<Arc<SpanNode>>> = const { RefCell::new(None) };
}

pin_project! {
    /// A future with a span that is the present one while it runs.
    #[must_use = "futures do nothing unless polled"]
    pub struct Traced<F: Future> {
        node: Option<Arc<SpanNode>>,
        judge: fn(&F::Output) -> SpanEnd,
        #[pin]
        future: F,
    }

    impl<F: Future> PinnedDrop for Traced<F> {
        fn drop(this: Pin<&mut Self>) {
            if let Some(live) = this.project().node.as_ref().and_then(|node| node.live.as_ref()) {
                live.fail("cancelled");
            }
        }
    }
}

impl<F: Future> Traced<F> {
    pub(crate) fn new(
        node: Option<Arc<SpanNode>>,
        future: F,
        judge: fn(&F::Output) -> SpanEnd,
    ) -> Self {
        Self {
            node,
            judge,
            future,
        }
    }
}

impl<F: Future> Future for Traced<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if this.node.is_none() {
            return this.future.poll(context);
        }
        let entered = Entered::enter(this.node.take());
        let polled = this.future.poll(context);
        *this.node = entered.leave();
        if let Poll::Ready(output) = &polled
            && let Some(node) = this.node.take()
            && let Some(live) = &node.live
        {
            live.end_as((this.judge)(output));
        }
        polled
    }
}

/// A span that is the present one of this thread; the former one is again when this is left, or dropped by a panic.
struct Entered {
    former: Option<Arc<SpanNode>>,
    is_left: bool,
}

impl Entered {
    fn enter(node: Option<Arc<SpanNode>>) -> Self {
        Self {
            former: PRESENT.replace(node),
            is_left: false,
        }
    }

    fn leave(mut self) -> Option<Arc<SpanNode>> {
        self.is_left = true;
        PRESENT.replace(self.former.take())
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if !self.is_left {
            PRESENT.replace(self.former.take());
        }
    }
}

/// The context of the present span, for what is stored to go on later; `None` if nothing is recorded.
#[inline]
pub fn present() -> Option<TraceContext> {
    match is_on() {
        true => with_present(|node| node.live.as_ref().map(|_| node.context)).flatten(),
        false => None,
    }
}

pub(crate) fn with_present<T>(read: impl FnOnce(&Arc<SpanNode>) -> T) -> Option<T> {
    PRESENT.with_borrow(|present| present.as_ref().map(read))
}
