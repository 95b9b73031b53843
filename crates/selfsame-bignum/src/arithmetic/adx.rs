//! Eight limbs times one by MULX, ADCX and ADOX, for x86-64 without AVX-512 IFMA: the other processor-specific module.
//!
//! The two additions with carry use separate flags, so that both chains run in parallel without waiting for each other.
//! Everything else is shared with the portable path.
#![expect(
    unsafe_code,
    reason = "what keeps two carries at once can be said in assembly alone"
)]

use std::arch::asm;

use super::portable::{EIGHT, Rows};

/// Rows by these instructions. The caller has checked that they are available.
pub(super) struct Adx;

/// Whether this processor has the extensions that this module needs.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx")
}

/// One limb: its product with the digit in rdx, plus the upper half of the one below (CF), plus the limb in `t` (OF).
macro_rules! limb {
    ($place:literal, $below:literal, $upper:literal) => {
        concat!(
            "mulx {",
            $upper,
            "}, {low}, [{a} + 8*",
            $place,
            "]\n",
            "adcx {low}, {",
            $below,
            "}\n",
            "adox {low}, [{t} + 8*",
            $place,
            "]\n",
            "mov [{t} + 8*",
            $place,
            "], {low}"
        )
    };
}

impl Rows for Adx {
    #[inline(always)]
    fn eight(t: &mut [u64; EIGHT], a: &[u64; EIGHT], digit: u64, carry: u64) -> u64 {
        let mut carry = carry;
        // SAFETY: an engine takes this path only where `is_available` says that the processor has both extensions. Eight
        // limbs are read at `a`, which is borrowed, and read and written at `t`, which is borrowed alone; the stack is not
        // touched, and flags count as changed. `odd` and `zero` are written before they are read.
        unsafe {
            asm!(
                "xor {zero:e}, {zero:e}", // clears CF and OF too
                limb!("0", "even", "odd"),
                limb!("1", "odd", "even"),
                limb!("2", "even", "odd"),
                limb!("3", "odd", "even"),
                limb!("4", "even", "odd"),
                limb!("5", "odd", "even"),
                limb!("6", "even", "odd"),
                limb!("7", "odd", "even"),
                "adcx {even}, {zero}",
                "adox {even}, {zero}",
                even = inout(reg) carry,
                odd = out(reg) _,
                low = out(reg) _,
                zero = out(reg) _,
                a = in(reg) a.as_ptr(),
                t = in(reg) t.as_mut_ptr(),
                in("rdx") digit,
                options(nostack),
            );
        }
        carry
    }
}
