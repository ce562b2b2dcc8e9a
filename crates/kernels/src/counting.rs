//! A global allocator for tests of memory: it counts what is allocated and not yet freed, for each
//! of a few groups of threads.
//!
//! A block belongs to the group of the thread that asked for it, whichever thread frees it. So two
//! parties in one process, each on threads of its own, are counted apart. What is counted are the
//! bytes asked for, touched or not: a program that reserves memory on its peer's word is seen even
//! where the system would never have to provide it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of groups; threads are of group 0 until they say otherwise.
pub const GROUPS: usize = 3;

/// The allocator: `#[global_allocator] static MEMORY: Counting = Counting;`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting;

static LIVE: [AtomicUsize; GROUPS] = [const { AtomicUsize::new(0) }; GROUPS];
static PEAK: [AtomicUsize; GROUPS] = [const { AtomicUsize::new(0) }; GROUPS];

thread_local! {
    static GROUP: Cell<usize> = const { Cell::new(0) };
}

impl Counting {
    /// From now on this thread's blocks are counted for `group`.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn join(group: usize) {
        assert!(group < GROUPS, "groups are numbered from 0 to {}", GROUPS - 1);
        GROUP.set(group);
    }

    /// Bytes of `group` that are allocated now.
    pub fn live(group: usize) -> usize {
        LIVE[group].load(Ordering::SeqCst)
    }

    /// The most bytes of `group` that were allocated at a time since [`restart`](Self::restart).
    pub fn peak(group: usize) -> usize {
        PEAK[group].load(Ordering::SeqCst)
    }

    /// Lets the peak of `group` begin anew at what is allocated now.
    pub fn restart(group: usize) {
        PEAK[group].store(Self::live(group), Ordering::SeqCst);
    }
}

fn add(group: usize, bytes: usize) {
    let live = LIVE[group].fetch_add(bytes, Ordering::SeqCst) + bytes;
    PEAK[group].fetch_max(live, Ordering::SeqCst);
}

fn sub(group: usize, bytes: usize) {
    LIVE[group].fetch_sub(bytes, Ordering::SeqCst);
}

/// Bytes before a block that hold its group: a multiple of its alignment, and 16, which programs
/// are used to.
fn prefix(layout: &Layout) -> usize {
    layout.align().max(16)
}

/// The layout of a block of `layout` with its prefix; `None` where it is too long.
fn whole(layout: &Layout) -> Option<Layout> {
    let size = layout.size().checked_add(prefix(layout))?;
    Layout::from_size_align(size, prefix(layout)).ok()
}

/// Counts a new block and writes its group before it; null where there is none.
///
/// # Safety
/// `start` is null, or a block of `whole(layout)` that nobody else uses.
unsafe fn begin(start: *mut u8, layout: &Layout) -> *mut u8 {
    if start.is_null() {
        return start;
    }
    let group = GROUP.get();
    add(group, layout.size());
    // SAFETY: the prefix has room for a number before the block, aligned since the prefix is a multiple
    // of that alignment.
    unsafe {
        let block = start.add(prefix(layout));
        block.cast::<usize>().sub(1).write(group);
        block
    }
}

// SAFETY: every block lies, `prefix` bytes from its start, in a block of the system allocator's of
// layout `whole`, which is a function of the layout, so that it is freed as it was allocated.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(whole) = whole(&layout) else { return std::ptr::null_mut() };
        // SAFETY: the layout is not of size zero, and the block is new.
        unsafe { begin(System.alloc(whole), &layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(whole) = whole(&layout) else { return std::ptr::null_mut() };
        // SAFETY: the layout is not of size zero, and the block is new.
        unsafe { begin(System.alloc_zeroed(whole), &layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(whole) = whole(&layout) else { return };
        // SAFETY: the block came from `begin` with this layout.
        unsafe {
            sub(block.cast::<usize>().sub(1).read(), layout.size());
            System.dealloc(block.sub(prefix(&layout)), whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_count_for_the_group_of_the_thread_that_asked() {
        // Not this program's allocator: only these blocks are counted.
        let layouts = [(1, 1), (100, 8), (4096, 4096), (1 << 20, 64)]
            .map(|(size, align)| Layout::from_size_align(size, align).unwrap());
        let total: usize = layouts.iter().map(Layout::size).sum();
        let blocks: Vec<usize> = std::thread::spawn(move || {
            Counting::join(2);
            // SAFETY: the layouts are not of size zero.
            layouts.iter().map(|layout| unsafe { Counting.alloc_zeroed(*layout) } as usize).collect()
        })
        .join()
        .unwrap();
        assert_eq!((Counting::live(1), Counting::live(2), Counting::peak(2)), (0, total, total));
        for (&block, layout) in blocks.iter().zip(layouts) {
            let block = block as *mut u8;
            assert_eq!(block.align_offset(layout.align()), 0);
            // SAFETY: each block is used within its size and freed once, by its layout.
            unsafe {
                assert!(std::slice::from_raw_parts(block, layout.size()).iter().all(|&byte| byte == 0));
                block.write_bytes(0xa5, layout.size());
                Counting.dealloc(block, layout);
            }
        }
        assert_eq!((Counting::live(2), Counting::peak(2)), (0, total));
        Counting::restart(2);
        assert_eq!(Counting::peak(2), 0);
        // SAFETY: the layout is valid; nothing is used.
        assert!(unsafe { Counting.alloc(Layout::from_size_align(isize::MAX as usize - 7, 8).unwrap()) }.is_null());
    }
}
