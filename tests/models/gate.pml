// SPDX-License-Identifier: Apache-2.0
// Gate (headpond/queue/sync/gate.cc): N threads a side make K calls of one element each at a gate of CAPACITY elements;
// one of them is stopped, and the gate is closed, or closed with cancel, at any time, or when nobody can go on any more.
// Each statement that touches shared memory is one step. Checked: there are never less than 0 or more than CAPACITY
// elements; when nobody can go on, nobody sleeps that has what it waits for (audit()); and after a close with cancel all
// calls end (an invalid end state otherwise).
//
// The lock of a side is one that serves its waiters in order (lock.pml checks that it is one). A thread that enters it
// after another thread sees all stores of that thread. Stores are buffered as in lock.pml. Left out: spinning, timeouts,
// reports, give_back().
//
// Control: -DWEAK has a heavy fence that does not reach the other threads.
#ifndef N
#define N 2
#endif
#ifndef K
#define K 2
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif
#define THREADS (2 * N)
#define DEPTH 3

#define PUT 0
#define TAKE 1
#define POSITION(side) (side)
#define PARKED(side) (2 + side)
#define WORD(side) (4 + side)
#define IDLE 0
#define RAISED 1
#define ASLEEP 2
mtype = { open, cancelling, closed, cancelled };

byte memory[6];
byte stores[THREADS];
byte address[THREADS * DEPTH];
byte value[THREADS * DEPTH];
mtype state = open;
bit taken[2];
byte last[2] = THREADS;  // Who entered last; not a thread: a close.
chan put_waiters = [N + 2] of { byte };
chan take_waiters = [N] of { byte };
byte verdict[THREADS + 2];
#define GO 1
#define CANCELLED 2
#define GIVEN_UP 3           // A close that a close with cancel overtook.
bit stop[THREADS];
bit registered[THREADS];  // A stop of this thread calls back.
bit calls[THREADS];       // It does so now.
bit stopped[THREADS];     // It woke a thread that waits for the lock.
bit waits_for_lock[THREADS];

#define ROOM (CAPACITY - (memory[POSITION(PUT)] - memory[POSITION(TAKE)]))
#define IN (memory[POSITION(PUT)] - memory[POSITION(TAKE)])

inline drain_one(t) {
  memory[address[t * DEPTH]] = value[t * DEPTH];
  assert(memory[POSITION(TAKE)] <= memory[POSITION(PUT)] && IN <= CAPACITY);
  address[t * DEPTH] = address[t * DEPTH + 1];
  value[t * DEPTH] = value[t * DEPTH + 1];
  address[t * DEPTH + 1] = address[t * DEPTH + 2];
  value[t * DEPTH + 1] = value[t * DEPTH + 2];
  address[t * DEPTH + 2] = 0;
  value[t * DEPTH + 2] = 0;
  stores[t]--
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
inline heavy_fence() {
  d_step {
#ifdef WEAK
    if
    :: me < THREADS -> drain(me)
    :: else -> skip
    fi
#else
    i = 0;
    do
    :: i < THREADS -> drain(i); i++
    :: else -> break
    od;
    i = 0
#endif
  }
}

// A thread that waits for the other side knows its own position, and reads the other's and the state.
inline look(result) {
  d_step {
    if
    :: side == PUT -> result = state != open || CAPACITY > own - memory[POSITION(TAKE)]
    :: else -> result = state == closed || state == cancelled || memory[POSITION(PUT)] > own
    fi
  }
}
inline raise(which) { atomic { memory[WORD(which)] = RAISED } }
inline wake(which) {
  d_step {
    was_parked = memory[PARKED(which)];
    memory[PARKED(which)] = 0
  }
  if
  :: was_parked -> raise(which)
  :: else
  fi;
  was_parked = 0
}

// The lock. `me` may be the closer, which has no buffer.
inline take_over(which) {
  if
  :: last[which] != me && last[which] < THREADS -> drain(last[which])
  :: else -> skip
  fi;
  last[which] = me
}
inline leave(which, line) {
  atomic {
    if
    :: len(line) > 0 -> line ? w; verdict[w] = GO; w = 0
    :: len(line) == 0 -> taken[which] = 0
    fi
  }
}

inline begin_callback() {
  atomic {
    registered[me] = 1;
    if
    :: stop[me] -> registered[me] = 0; stopped[me] = waits_for_lock[me]
    :: else -> skip
    fi
  }
}
inline end_callback() { atomic { !calls[me] -> registered[me] = 0; stopped[me] = 0 } }

inline enter(line) {
  atomic {
    if
    :: !taken[side] && len(line) == 0 -> taken[side] = 1; take_over(side); has_lock = 1
    :: else -> waits_for_lock[me] = 1; line ! me; drain(me)
    fi
  }
  if
  :: has_lock
  :: !has_lock ->
    begin_callback();
    if
    :: verdict[me] != 0
    :: stopped[me]
    fi;
    end_callback();
    atomic {
      waits_for_lock[me] = 0;
      if
      :: verdict[me] == 0 -> line ?? eval(me)
      :: verdict[me] == GO -> has_lock = 1; take_over(side)
      :: verdict[me] == CANCELLED
      fi;
      verdict[me] = 0
    }
  fi
}

inline sleep_until_ready() {
  begin_callback();
  do
  :: store(WORD(side), IDLE);
    store(PARKED(side), 1);
    heavy_fence();
    look(ready);
    if
    :: ready || stop[me]
    :: !ready && !stop[me] ->
      atomic {
        drain(me);
        if
        :: memory[WORD(side)] == IDLE -> memory[WORD(side)] = ASLEEP
        :: else -> skip
        fi
      }
      memory[WORD(side)] != ASLEEP
    fi;
    store(PARKED(side), 0);
    look(ready);
    if
    :: ready || stop[me] -> break
    :: !ready && !stop[me]
    fi
  od;
  end_callback()
}

inline move_one() {
  own++;
  store(POSITION(side), own);
  if
  :: memory[PARKED(1 - side)] -> d_step { drain(me) }; wake(1 - side)
  :: !memory[PARKED(1 - side)]
  fi
}

proctype thread(byte me, side) {
  byte left = K;
  byte own, i, w;
  bit has_lock, ready, was_parked;
  do
  :: left == 0 || stop[me] -> break
  :: left > 0 && !stop[me] ->
    left--;
    if
    :: side == PUT -> enter(put_waiters)
    :: side == TAKE -> enter(take_waiters)
    fi;
    if
    :: !has_lock
    :: has_lock ->
      d_step { own = memory[POSITION(side)]; i = 0;
        do
        :: i < stores[me] ->
          if
          :: address[me * DEPTH + i] == POSITION(side) -> own = value[me * DEPTH + i]
          :: else -> skip
          fi;
          i++
        :: else -> break
        od;
        i = 0 }
      if
      :: side == PUT && state != open
      :: !(side == PUT && state != open) ->
        look(ready);
        if
        :: ready
        :: !ready -> sleep_until_ready()
        fi;
        // A put that began before a close goes on when there is room; the stop or the cancel ends it otherwise.
        d_step {
          if
          :: side == PUT -> ready = CAPACITY > own - memory[POSITION(TAKE)] && state == open
          :: else -> ready = memory[POSITION(PUT)] > own
          fi
        }
        if
        :: ready -> move_one()
        :: !ready
        fi
      fi;
      d_step { own = 0; ready = 0; has_lock = 0 }
      if
      :: side == PUT -> leave(PUT, put_waiters)
      :: side == TAKE -> leave(TAKE, take_waiters)
      fi
    fi
  od
}

proctype buffer(byte t) {
end:
  do
  :: atomic { stores[t] > 0 -> drain_one(t) }
  od
}

proctype stopper() {
  byte t;
  if
  :: t = 0
  :: t = N
  fi;
  stop[t] = 1;
  atomic {
    if
    :: registered[t] -> registered[t] = 0; calls[t] = 1
    :: else -> skip
    fi
  }
  if
  :: calls[t] && waits_for_lock[t] -> atomic { stopped[t] = 1; calls[t] = 0 }
  :: calls[t] && !waits_for_lock[t] -> raise(t / N); calls[t] = 0
  :: !calls[t]
  fi
}

inline audit() {
  d_step {
    assert(memory[WORD(PUT)] != ASLEEP || (ROOM == 0 && state == open));
    assert(memory[WORD(TAKE)] != ASLEEP || (IN == 0 && state == open));
    assert(len(put_waiters) == 0 || taken[PUT]);
    assert(len(take_waiters) == 0 || taken[TAKE])
  }
}

inline close_gate(cancels) {
  if
  :: state != open && !(cancels && state == cancelling) -> goto done
  :: else
  fi;
  if
  :: cancels ->
    atomic {
      if
      :: state == open || state == cancelling -> state = cancelling
      :: else -> goto done
      fi
    }
    heavy_fence();
    atomic {
      do
      :: put_waiters ? w ->
        if
        :: w < THREADS -> verdict[w] = CANCELLED
        :: else -> verdict[w] = GIVEN_UP
        fi
      :: len(put_waiters) == 0 -> break
      od;
      w = 0
    }
    wake(PUT)
  :: !cancels
  fi;
  atomic {
    if
    :: !taken[PUT] && len(put_waiters) == 0 -> taken[PUT] = 1; verdict[me] = GO
    :: else -> put_waiters ! me
    fi
  }
  verdict[me] != 0;
  if
  :: verdict[me] == GIVEN_UP -> verdict[me] = 0; goto done
  :: else -> verdict[me] = 0
  fi;
  atomic { take_over(PUT) };
  atomic {
    if
    :: cancels && state == cancelling -> state = cancelled
    :: !cancels && state == open -> state = closed
    :: else -> skip
    fi
  }
  leave(PUT, put_waiters);
  heavy_fence();
  wake(TAKE)
}

proctype closer() {
  byte me = THREADS;
  byte i, w;
  bit was_parked;
  if
  :: true -> close_gate(false)
  :: true -> close_gate(true)
  :: true
  fi;
done:
  skip
}

proctype finisher() {
  byte me = THREADS + 1;
  byte i, w;
  bit was_parked;
  timeout -> audit();
  close_gate(true);
done:
  skip
}

init {
  byte t = 0;
  atomic {
    do
    :: t < THREADS -> run thread(t, t / N); run buffer(t); t++
    :: else -> break
    od;
    run closer();
    run finisher();
#ifdef STOP
    run stopper()
#endif
  }
}
