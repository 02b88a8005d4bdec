// SPDX-License-Identifier: Apache-2.0
// The executor's wake-ups (headpond/engine/executor): who sleeps, and who wakes whom. One lock guards all of it, so each
// atomic block is what one thread does while it holds the lock, up to where it waits or carries out a task.
//
//   W      workers, and the threads that may compute at once
//   N      items of the one stage; K of them the program takes before it stops
//   T      items that the stage makes ahead
//   M      items that the memory holds, with those that the program has
//   IO     the stage opens its items from a second one, whose tasks wait: a thread for these makes them
//   NEXT   tasks of what comes after the stage (the next part or epoch), which the program never helps with
//   DEAR   items are dear: the program's thread leaves them to the workers, and wakes one at each take that leaves fewer
//          than D
//   D      items that the stage needs ahead; T is more where most of them are cheap and small
//
// Shown: the program is never left waiting (no state without a next one), and whenever it is away and all threads sleep,
// none of them could go on: what could be begun is begun. An exception is a stage of which more than half of what it makes
// ahead is there, and of dear items all that it needs.
//
// Controls: NO_WAKE_AFTER_HELP (a worker that found no permit while the program helped stays asleep), NO_WAKE_FOR_MEMORY
// (memory was short when nobody was about to sleep, so nobody looks for it), NO_WAKE_OUT_OF_THE_WAY (a worker that would
// take the program's processor wakes no other), WAKE_WHEN_EMPTY (a take wakes when nothing is left), NO_WAKE_FOR_DEAR (a
// take wakes for dear items as for cheap ones).

#ifndef W
#define W 2
#endif
#ifndef N
#define N 4
#endif
#ifndef K
#define K 3
#endif
#ifndef T
#define T 2
#endif
#ifndef D
#define D T
#endif
#ifndef M
#define M 4
#endif
#ifndef NEXT
#define NEXT 1
#endif

byte left = N, opening, unclaimed, making, ready;  // Items, by how far they are.
byte next_left = NEXT;
byte held;                                         // By the program.
byte running;                                      // Tasks that compute.
bit waiting, makes_itself, computes, news, stopped;
byte processor;  // The program's; worker w is pinned to processor w.
bit asleep[W], woken[W], polls, was_short;
byte to_bring = N, brought;  // Of the stage whose tasks wait.
bit bringing, stalled, io_asleep, io_woken;

#define ITEMS (unclaimed + making + ready)
#define PERMITS ((W > 1 && computes && !waiting) -> W - 1 : W)
#define IN_THE_WAY(w) (W > 1 && computes && !waiting && processor == w)
#define FITS (held + ITEMS + opening < M)
#define MAY_COMPUTE (running < PERMITS && (waiting || !makes_itself))

#ifdef IO
#define MAY_OPEN (!opening && left > 0 && !stalled)
#define IO_HAS_WORK (!bringing && to_bring > 0 && brought < 2)
#else
#define MAY_OPEN (!opening && left > 0)
#define IO_HAS_WORK false
#endif
#define AWAITED (ITEMS == 0 && waiting)
#define HAS_OWN_WORK (unclaimed > 0 || (MAY_OPEN && (AWAITED || (ITEMS < T && FITS))))
#define HAS_WORK (!stopped && (HAS_OWN_WORK || next_left > 0))
#define LOOKS_FOR_MEMORY (MAY_OPEN && !AWAITED && ITEMS < T && !FITS)

inline wake_worker() {
  if
  :: asleep[0] && !IN_THE_WAY(0) -> asleep[0] = 0; woken[0] = 1
  :: else ->
#if W > 1
    if
    :: asleep[1] && !IN_THE_WAY(1) -> asleep[1] = 0; woken[1] = 1
    :: else
    fi
#else
    skip
#endif
  fi
}

inline wake() {
  if
  :: IO_HAS_WORK && io_asleep -> io_asleep = 0; io_woken = 1
  :: else
  fi;
  if
  :: MAY_COMPUTE && HAS_WORK -> wake_worker()
  :: MAY_COMPUTE && !HAS_WORK && LOOKS_FOR_MEMORY ->
    was_short = 1;
#ifndef NO_WAKE_FOR_MEMORY
    if
    :: !polls -> wake_worker()  // It finds nothing, and looks for memory by itself.
    :: else
    fi
#endif
  :: else
  fi
}

inline made_progress() {
  news = 1;
  stalled = 0
}

// What a worker or the program's thread claims.
mtype = { opens, makes, does_next };
inline claim(task) {
  if
  :: unclaimed > 0 -> unclaimed--; making++; task = makes
  :: unclaimed == 0 && HAS_OWN_WORK -> opening = 1; task = opens
  :: else -> next_left--; task = does_next
  fi
}

// The task is over.
inline ended(task) {
  if
  :: task == opens ->
    opening = 0;
#ifdef IO
    if
    :: brought > 0 -> brought--; left--; unclaimed++; wake()  // As a stage whose tasks wait wakes at each take.
    :: else -> stalled = !news  // Unless something came meanwhile.
    fi
#else
    left--;
    unclaimed++
#endif
  :: task == makes ->
    making--;
    ready++;
    made_progress()
  :: else
  fi
}

proctype Worker(byte me) {
  mtype task;
  do
  :: atomic {
      if
      :: stopped -> break
      :: !stopped && MAY_COMPUTE && !IN_THE_WAY(me) && HAS_WORK ->
        claim(task);
        running++;
        wake()
      :: else ->
        if
        :: MAY_COMPUTE && LOOKS_FOR_MEMORY -> was_short = 1
        :: else
        fi;
        if
        :: IO_HAS_WORK && io_asleep -> io_asleep = 0; io_woken = 1
        :: else
        fi;
#ifndef NO_WAKE_OUT_OF_THE_WAY
        if
        :: IN_THE_WAY(me) -> wake()
        :: else
        fi;
#endif
        asleep[me] = 1;
        woken[me] = 0;
        if
        :: was_short && !polls -> was_short = 0; polls = 1; goto polling
        :: else -> goto sleeping
        fi
      fi
    };
    atomic { ended(task); running-- };
    goto next;
polling:  // It looks each few milliseconds: what matters is that it will.
    atomic {
      (FITS || woken[me] || stopped);
      asleep[me] = 0;
      woken[me] = 0;
      wake();
      polls = 0;
      goto next
    };
sleeping:
    atomic { (woken[me] || stopped); asleep[me] = 0; woken[me] = 0 };
next:
    skip
  od
}

#ifdef IO
proctype Io() {
  do
  :: atomic {
      if
      :: stopped -> break
      :: !stopped && IO_HAS_WORK -> bringing = 1; to_bring--; wake()
      :: else -> wake(); io_asleep = 1; io_woken = 0; goto sleeping
      fi
    };
    atomic { bringing = 0; brought++; made_progress() };
    goto next;
sleeping:
    atomic { (io_woken || stopped); io_asleep = 0; io_woken = 0 };
next:
    skip
  od
}
#endif

#define ALL_ASLEEP (asleep[0] && asleep[W - 1] && !woken[0] && !woken[W - 1] && !polls)
#ifdef IO
#define IO_ASLEEP (io_asleep && !io_woken)
#else
#define IO_ASLEEP true
#endif
// A stage wakes a worker at each take that leaves half of what it makes ahead, or less, and one of dear items at each that
// leaves less than it needs. At others it may, as some of them may be dear.
#ifdef DEAR
#define IS_WORTH_IT (ITEMS < D || ITEMS <= T / 2)
#else
#define IS_WORTH_IT (ITEMS <= T / 2)
#endif
#ifdef WAKE_WHEN_EMPTY
#define WAKES_AT_TAKE (ITEMS == 0)
#elif defined(NO_WAKE_FOR_DEAR)
#define WAKES_AT_TAKE (ITEMS <= T / 2)
#else
#define WAKES_AT_TAKE IS_WORTH_IT
#endif
#define COULD_GO_ON (MAY_COMPUTE && HAS_WORK && (unclaimed > 0 || next_left > 0 || IS_WORTH_IT) && (!IN_THE_WAY(0) || !IN_THE_WAY(W - 1)))

// What the program's thread may do itself in next(); memory does not hold it up.
#ifdef DEAR
#define MAY_HELP false
#else
#define MAY_HELP (running < W && ((unclaimed > 0 && ready == 0 && making == 0) || (ITEMS == 0 && MAY_OPEN)))
#endif

active proctype Program() {
  byte taken;
  mtype task;
  bit was_full, got;
  atomic {
    run Worker(0);
#if W > 1
    run Worker(1);
#endif
#ifdef IO
    run Io();
#endif
  };
  do
  :: taken == K -> break
  :: taken < K ->
    got = 0;
    do  // next()
    :: got -> break
    :: !got ->
      atomic {
        news = 0;
        if
        :: ready > 0 ->
          ready--;
          held++;
          taken++;
          got = 1;
          if
          :: !makes_itself
          :: makes_itself -> makes_itself = 0; wake()  // What it takes has become dear.
#ifndef DEAR
          :: !makes_itself -> makes_itself = 1
          :: makes_itself
#endif
          fi;
          if
          :: wake()
          :: !WAKES_AT_TAKE
          fi
        :: else
        fi
      };
      if
      :: got
      :: !got ->
        atomic {
          if
          :: MAY_HELP && unclaimed > 0 -> unclaimed--; making++; task = makes; running++
          :: MAY_HELP && unclaimed == 0 -> opening = 1; task = opens; running++
          :: else -> goto waits
          fi
        };
        atomic {
          ended(task);
          was_full = running >= PERMITS;
          running--;
          if
#ifdef NO_WAKE_AFTER_HELP
          :: task == opens -> wake()
#else
          :: task == opens || was_full -> wake()
#endif
          :: else
          fi
        };
        if
        :: skip
        :: got = 1; taken++  // A stage above this one had its batch ready.
        fi;
        goto again;
waits:
        atomic { waiting = 1; wake() };
        atomic { news; waiting = 0 };
again:
        skip
      fi
    od;
    atomic {  // It leaves next(): what is known of it changes, and nobody is woken for that.
      if
      :: computes = 0
      :: computes = 1; processor = 0
#if W > 1
      :: computes = 1; processor = 1
#endif
      fi
    };
    do  // The step: batches go, and nobody is woken for that either.
    :: atomic { held > 0 -> held-- }
    :: break
    od;
    atomic { assert(!(ALL_ASLEEP && IO_ASLEEP && COULD_GO_ON)) }
  od;
  atomic { stopped = 1 }
}
