//! A global allocator for programs that fill long vectors: blocks of two mebibytes and more come
//! straight from the system, aligned for huge pages and with the advice to use them.
//!
//! A vector of a million elements spans thousands of ordinary pages. Each costs a fault when it is
//! first written, and random reads (the expander of a code, the cells of a table) miss the address
//! caches. A huge page takes the place of 512 of them. Where the system grants none, the blocks are
//! ordinary memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of a huge page on x86-64 and on AArch64 with pages of four kibibytes; elsewhere merely
/// an alignment.
const HUGE: usize = 1 << 21;

/// The allocator: `#[global_allocator] static MEMORY: HugePages = HugePages;`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HugePages;

/// How many calls of [`wiping`] go on.
static WIPING: AtomicUsize = AtomicUsize::new(0);

/// Does work of a library that leaves secrets in memory. What is freed meanwhile is wiped first, by whatever thread, if
/// [`HugePages`] is the program's allocator; otherwise this changes nothing.
pub fn wiping<T>(work: impl FnOnce() -> T) -> T {
    struct Wiping;
    impl Drop for Wiping {
        fn drop(&mut self) {
            WIPING.fetch_sub(1, Ordering::Relaxed);
        }
    }
    WIPING.fetch_add(1, Ordering::Relaxed);
    let _wiping = Wiping;
    work()
}

fn is_wiping() -> bool {
    WIPING.load(Ordering::Relaxed) > 0
}

/// Whether a block is mapped by itself: a function of the layout, so that it is freed as it was
/// allocated.
fn mapped(layout: &Layout) -> bool {
    cfg!(target_os = "linux") && layout.size() >= HUGE && layout.align() <= HUGE
}

// SAFETY: blocks that `mapped` names are fresh private mappings of at least their size, aligned to
// `HUGE`, that only `dealloc` of the same layout unmaps; all others are the system allocator's.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if mapped(&layout) {
            mapping::map(layout.size())
        } else {
            // SAFETY: the caller's promise.
            unsafe { System.alloc(layout) }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if mapped(&layout) {
            // A fresh mapping is zero.
            mapping::map(layout.size())
        } else {
            // SAFETY: the caller's promise.
            unsafe { System.alloc_zeroed(layout) }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if mapped(&layout) {
            // SAFETY: a block of this layout came from `map` with this size.
            unsafe { mapping::unmap(block, layout.size()) };
        } else {
            if is_wiping() {
                for place in 0..layout.size() {
                    // SAFETY: within the block, which the caller has done with. Volatile, since nobody reads it again.
                    unsafe { block.add(place).write_volatile(0) };
                }
            }
            // SAFETY: the caller's promise; the block came from the system allocator.
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that `size`, rounded up to the alignment, does not overflow.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (mapped(&layout), mapped(&new)) {
            // SAFETY: the caller's promise; the block came from the system allocator.
            (false, false) if !is_wiping() => unsafe { System.realloc(block, layout, size) },
            (true, true) if mapping::len(layout.size()) == mapping::len(size) => block,
            _ => {
                // SAFETY: `new` is a valid layout, not of size zero by the caller's promise.
                let moved = unsafe { self.alloc(new) };
                if !moved.is_null() {
                    // SAFETY: both blocks have at least the lesser size, and are distinct; the old one is given back
                    // once, by its layout.
                    unsafe {
                        std::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                        self.dealloc(block, layout);
                    }
                }
                moved
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod mapping {
    use std::ptr::null_mut;

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    use super::HUGE;

    /// The length of the mapping for a block: whole huge pages.
    pub(super) fn len(size: usize) -> usize {
        size.next_multiple_of(HUGE)
    }

    /// A zero block of at least `size` bytes, aligned to `HUGE`; null where the system has none.
    pub(super) fn map(size: usize) -> *mut u8 {
        // A layout's size is at most `isize::MAX`, so that neither sum overflows.
        let len = len(size);
        // SAFETY: a new mapping at an address of the system's choice touches no memory in use.
        let Ok(start) =
            (unsafe { mmap_anonymous(null_mut(), len + HUGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) })
        else {
            return null_mut();
        };
        let before = start.cast::<u8>().align_offset(HUGE);
        let block = start.cast::<u8>().wrapping_add(before);
        // SAFETY: `block..block + len` lies within the new mapping, and so do the parts before and after
        // it, which nobody has seen. Where a call fails, the block still serves: advice is advice,
        // and what stays mapped is address space only.
        unsafe {
            if before > 0 {
                let _ = munmap(start, before);
            }
            let _ = munmap(block.wrapping_add(len).cast(), HUGE - before);
            let _ = madvise(block.cast(), len, Advice::LinuxHugepage);
        }
        block
    }

    /// Gives a block back.
    ///
    /// # Safety
    /// `block` came from `map(size)`, and is not used again.
    pub(super) unsafe fn unmap(block: *mut u8, size: usize) {
        // SAFETY: by the contract this is a whole mapping of that length. It cannot fail but for a lack of
        // kernel memory, and then leaks.
        let _ = unsafe { munmap(block.cast(), len(size)) };
    }
}

#[cfg(not(target_os = "linux"))]
mod mapping {
    /// Nothing is mapped here: `mapped` is false.
    pub(super) fn len(size: usize) -> usize {
        size
    }

    pub(super) fn map(_: usize) -> *mut u8 {
        std::ptr::null_mut()
    }

    pub(super) unsafe fn unmap(_: *mut u8, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_keep_their_bytes_through_every_change_of_size() {
        let align = 16;
        let sizes = [1, 4096, HUGE - 1, HUGE, HUGE + 1, 2 * HUGE, 5 * HUGE + 7, HUGE, HUGE - 1, 100, 3 * HUGE];
        let layout = |size| Layout::from_size_align(size, align).unwrap();
        // SAFETY: each block is used within its size and freed once, by the layout it has then.
        unsafe {
            let mut block = HugePages.alloc_zeroed(layout(sizes[0]));
            assert_eq!(*block, 0);
            *block = 7;
            for pair in sizes.windows(2) {
                block = HugePages.realloc(block, layout(pair[0]), pair[1]);
                assert!(!block.is_null());
                let kept = pair[0].min(pair[1]);
                // The last byte that both sizes have was written in the step before.
                assert_eq!(*block, 7, "from {} to {}", pair[0], pair[1]);
                if pair[0] <= pair[1] && pair[0] > 1 {
                    assert_eq!(*block.add(kept - 1), 9, "from {} to {}", pair[0], pair[1]);
                }
                if pair[1] > 1 {
                    *block.add(pair[1] - 1) = 9;
                }
            }
            HugePages.dealloc(block, layout(3 * HUGE));
        }
    }

    #[test]
    fn what_is_freed_is_wiped_as_long_as_a_call_asks_for_it() {
        assert!(!is_wiping());
        assert_eq!(wiping(|| (is_wiping(), wiping(|| 7), is_wiping())), (true, 7, true));
        assert!(std::panic::catch_unwind(|| wiping(|| panic!("a defect"))).is_err() && !is_wiping());
        wiping(blocks_keep_their_bytes_through_every_change_of_size);
    }

    #[test]
    fn large_blocks_are_zero_aligned_and_distinct() {
        let layout = Layout::from_size_align(HUGE + 4096, 64).unwrap();
        // SAFETY: each block is used within its size and freed once.
        unsafe {
            let blocks: Vec<*mut u8> = (0..4).map(|_| HugePages.alloc_zeroed(layout)).collect();
            for (i, &block) in blocks.iter().enumerate() {
                assert!(!block.is_null() && (!cfg!(target_os = "linux") || block.align_offset(HUGE) == 0));
                let bytes = std::slice::from_raw_parts_mut(block, layout.size());
                assert!(bytes.iter().all(|&byte| byte == 0));
                bytes.fill(i as u8 + 1);
            }
            for (i, &block) in blocks.iter().enumerate() {
                assert!(std::slice::from_raw_parts(block, layout.size()).iter().all(|&byte| byte == i as u8 + 1));
                HugePages.dealloc(block, layout);
            }
        }
    }

    #[test]
    fn a_block_larger_than_memory_is_refused_by_null() {
        let layout = Layout::from_size_align(1 << 62, 8).unwrap();
        // SAFETY: the layout is valid; nothing is used.
        assert!(unsafe { HugePages.alloc(layout) }.is_null());
    }
}
