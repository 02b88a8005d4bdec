// SPDX-License-Identifier: Apache-2.0
// BiasedLock (headpond/queue/sync/biased_lock.cc): N threads enter it K times each, become its owner or not, wait, give
// up, are cancelled. Each statement that touches shared memory is one step. Checked: never two inside (the assertion),
// and nobody waits for a lock that is free (a thread that never ends is an invalid end state).
//
// Plain stores go through a store buffer of DEPTH entries a thread, as on x86; a read-modify-write, and a mutex, empties
// the thread's own buffer, and the heavy fence empties all of them. Rows of entries are left out: a thread that took the
// lock may become the owner at once. So is spinning: a thread may try again and again.
//
// Controls, in which something is found: -DOLD is the protocol with one mark of the lock, which a thread that is no
// longer the owner can clear; -DWEAK has a heavy fence that does not reach the other threads; -DLIGHT lets go of a
// crowded lock without a full fence; -DHASTY runs none after it cleared the mark `crowded`.
#ifndef N
#define N 3
#endif
#ifndef K
#define K 2
#endif
#define DEPTH 2

#define TAKEN 0
#define OWNER 1
#define CROWDED 2
#ifdef OLD
#define CELL(t) 3
#define CELLS 1
#define REVOKING 15
#else
#define CELL(t) (3 + t)
#define CELLS N
#endif

byte memory[3 + CELLS];
byte stores[N];              // In a thread's buffer:
byte address[N * DEPTH];     // the first is the oldest.
byte value[N * DEPTH];
bit mutex;
chan waiters = [N] of { byte };
bit linked[N];
byte verdict[N];             // 0: none yet.
#define GO 1
#define CANCELLED 2
byte inside;

inline drain_one(t) {
  memory[address[t * DEPTH]] = value[t * DEPTH];
  address[t * DEPTH] = address[t * DEPTH + 1];
  value[t * DEPTH] = value[t * DEPTH + 1];
  address[t * DEPTH + 1] = 0;
  value[t * DEPTH + 1] = 0;
  stores[t]--;
}
inline drain(t) {
  do
  :: stores[t] > 0 -> drain_one(t)
  :: else -> break
  od
}
inline store(a, v) {
  d_step {
    if
    :: stores[me] == DEPTH -> drain_one(me)
    :: else -> skip
    fi;
    address[me * DEPTH + stores[me]] = a;
    value[me * DEPTH + stores[me]] = v;
    stores[me]++
  }
}
// A thread sees its own newest store.
inline load(a, to) {
  d_step {
    to = memory[a];
    if
    :: stores[me] > 0 && address[me * DEPTH] == a -> to = value[me * DEPTH]
    :: else -> skip
    fi;
    if
    :: stores[me] > 1 && address[me * DEPTH + 1] == a -> to = value[me * DEPTH + 1]
    :: else -> skip
    fi
  }
}
inline heavy_fence() {
#ifdef WEAK
  d_step { drain(me); i = 0 }
#else
  d_step {
    i = 0;
    do
    :: i < N -> drain(i); i++
    :: else -> break
    od;
    i = 0
  }
#endif
}
// After a store that lets go of the lock, or of a thread's own mark.
inline fence_if_crowded() {
#ifndef LIGHT
  load(CROWDED, seen);
  if
  :: seen -> d_step { drain(me); seen = 0 }
  :: else
  fi
#else
  skip
#endif
}
// By the holder. How often it saw no waiters before does not count here.
inline calm_down() {
  load(CROWDED, seen);
  if
  :: seen && len(waiters) == 0 ->
    store(CROWDED, 0);
#ifndef HASTY
    d_step { drain(me); seen = 0 }
#endif
  :: true
  fi;
  seen = 0
}
inline lock_mutex() { atomic { mutex == 0 -> mutex = 1; drain(me) } }
inline unlock_mutex() { d_step { drain(me); mutex = 0 } }
inline try_take(done) {
  d_step {
    drain(me);
    done = (memory[TAKEN] == 0);
    memory[TAKEN] = 1
  }
}

// Under the mutex. `done`: the lock is ours.
inline claim(done) {
  try_take(done);
  if
  :: !done
  :: else ->
    load(OWNER, o);
    if
    :: o == 0
    :: else ->
#ifdef OLD
      store(OWNER, REVOKING);
      heavy_fence();
      store(OWNER, 0);
      load(CELL(0), seen);
      done = (seen == 0);
#else
      load(CELL(o - 1), seen);
      if
      :: seen -> done = 0
      :: else ->
        store(OWNER, 0);
        heavy_fence();
        load(CELL(o - 1), seen);
        if
        :: seen -> store(OWNER, o); done = 0
        :: else
        fi
      fi;
#endif
      if
      :: !done -> store(TAKEN, 0)
      :: else
      fi
    fi
#ifdef OLD
    ;
    if
    :: o == 0 ->
      load(CELL(0), seen);
      if
      :: seen -> done = 0; store(TAKEN, 0)
      :: else
      fi
    :: else
    fi
#endif
  fi;
  o = 0;
  seen = 0
}

inline serve_waiters() {
  lock_mutex();
  if
  :: len(waiters) == 0
  :: len(waiters) > 0 ->
    claim(ours);
    if
    :: ours -> d_step { waiters ? w; linked[w] = 0; verdict[w] = GO; w = 0 }
    :: else
    fi;
    ours = 0
  fi;
  unlock_mutex()
}
inline serve_if_waiting() {
  if
  :: len(waiters) > 0 -> serve_waiters()
  :: len(waiters) == 0
  fi
}

// `entered` is 1: by taken_, 2: as the owner.
inline try_enter() {
  load(OWNER, o);
  if
  :: o == me + 1 ->
    store(CELL(me), 1);
    load(OWNER, o);
    if
    :: o == me + 1 && len(waiters) == 0 -> entered = 2
    :: else ->
      store(CELL(me), 0);
      o = 0;
      fence_if_crowded();
      serve_if_waiting()
    fi
  :: else ->
#ifdef OLD
    load(CELL(0), seen);
    if
    :: len(waiters) > 0 || seen
#else
    if
    :: len(waiters) > 0 || o != 0
#endif
    :: else ->
      try_take(ours);
      if
      :: !ours
      :: else ->
        load(OWNER, o);
#ifdef OLD
        load(CELL(0), seen);
#endif
        if
        :: (o == 0 || o == me + 1) && !seen -> entered = 1
        :: else ->
          store(TAKEN, 0);
          o = 0;
          seen = 0;
          ours = 0;
          fence_if_crowded();
          serve_if_waiting()
        fi
      fi
    fi
  fi;
  o = 0;
  seen = 0;
  ours = 0
}

inline enter() {
  do
  :: try_enter();
    if
    :: entered != 0 -> break
    :: else
    fi;
    lock_mutex();
    if
    :: len(waiters) > 0
    :: len(waiters) == 0 -> claim(entered)
    fi;
    unlock_mutex();
    if
    :: entered != 0 -> break
    :: else
    fi;
    // Spin once more, or wait.
    if
    :: skip
    :: lock_mutex();
      linked[me] = 1;
      waiters ! me;
      unlock_mutex();
      load(CROWDED, seen);
      if
      :: seen -> seen = 0
      :: else -> store(CROWDED, 1); heavy_fence()
      fi;
      serve_waiters();
      if
      :: verdict[me] != 0
      :: me == N - 1  // One thread may time out, or be stopped, at any time.
      :: timeout -> assert(false)  // Nobody can go on: this thread was not served.
      fi;
      lock_mutex();
      if
      :: linked[me] ->
        d_step { waiters ?? eval(me); linked[me] = 0 };
        unlock_mutex();
        break
      :: else -> unlock_mutex()
      fi;
      if
      :: verdict[me] == GO -> entered = 1
      :: else
      fi;
      verdict[me] = 0;
      break
    fi
  od
}

proctype thread(byte me) {
  byte left = K;
  byte entered, o, i, w;
  bit ours, seen;
  do
  :: left > 0 ->
    left--;
    enter();
    if
    :: entered == 0
    :: else ->
      inside++;
      assert(inside == 1);
      if
      :: entered == 1 -> store(OWNER, me + 1)
      :: true
      fi;
      inside--;
      calm_down();
      if
      :: entered == 2 -> store(CELL(me), 0)
      :: else -> store(TAKEN, 0)
      fi;
      entered = 0;
      fence_if_crowded();
      serve_if_waiting()
    fi
  :: else -> break
  od
}

// The processor writes a buffered store at any time.
proctype buffer(byte t) {
end:
  do
  :: atomic { stores[t] > 0 -> drain_one(t) }
  od
}

#ifdef CANCEL
proctype canceller() {
  byte w;
  atomic { mutex == 0 -> mutex = 1 };
  do
  :: waiters ? w -> d_step { linked[w] = 0; verdict[w] = CANCELLED }
  :: len(waiters) == 0 -> break
  od;
  mutex = 0
}
#endif

init {
  byte t = 0;
  atomic {
    do
    :: t < N -> run thread(t); run buffer(t); t++
    :: else -> break
    od;
#ifdef CANCEL
    run canceller()
#endif
  }
}
