// SPDX-License-Identifier: Apache-2.0
// Gate (headpond/queue/sync/gate.cc): up to PUTS threads put and up to TAKES threads take, each K times one element, at a
// gate of CAPACITY elements. They need not be equally many: what is left waits until it is stopped or closed. With -DCLOSE the gate is closed at any time, with -DCANCEL it is closed with cancel, and with both
// one of them happens, or none. With -DSTOP one of the threads is stopped at any time. When nobody can go on any more,
// the gate is closed with cancel. Each statement that touches shared memory is one step, but for what is said below.
// Checked: there are never less than 0 or more than CAPACITY elements; when nobody can go on, nobody sleeps that has what
// it waits for, and the stopped thread has returned (audit()); after a close with cancel all calls end (an invalid end
// state otherwise).
//
// The lock of a side is one that serves its waiters in order (lock.pml checks that it is one). A thread that enters it
// after another thread sees all stores of that thread. Stores are buffered as in lock.pml. Left out: spinning, timeouts,
// reports, give_back().
//
// What makes the search small enough for three threads a side, and why no error is lost:
// - One buffer of stores a side, not one a thread. Only the holder of a side's lock stores, and a thread that enters after
//   another one first writes that one's stores to memory. So of a side's threads only the last one that entered has any.
// - The threads of a side make their first step in the order of their numbers. Threads differ only by their numbers, and
//   the stopped one may be any of them, so every other run is one of these runs with other numbers.
// - Which thread is stopped is chosen at the start, and only this one has a stop callback: the others' never run.
// - A thread may begin a call although its stop was requested: it may have looked just before.
// - A locked instruction writes its thread's stores to memory and acts in one step. The processor may write the same
//   stores in a step before it, so nothing is hidden.
// - Looking at what one waits for and the store that follows are one step, if it is there: it stays there, as the other
//   side's position, the state and the stop only go forward, and a word that was raised stays so until its thread resets
//   it. So a run in which others act between the two is the run in which the thread looks after them.
// - A put moves an element if there is room, also if the gate was cancelled since it began. That adds runs: the code may
//   still see the cancel.
//
// Controls, in each of which an assertion fails: -DWEAK (a heavy fence does not reach the other threads), -DNO_LOOK (a
// thread sleeps without a look after it parked), -DNO_WAKE_AT_CLOSE, -DNO_WAKE_AT_CANCEL, -DNO_WAKE_AT_STOP.
#ifndef PUTS
#define PUTS 3
#endif
#ifndef TAKES
#define TAKES 3
#endif
#ifndef K
#define K 1
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif
#define THREADS (PUTS + TAKES)
#define NOBODY THREADS
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
byte stores[2];
byte address[2 * DEPTH];
byte value[2 * DEPTH];
byte own[2];  // A side's position, as the holder of its lock knows it.
mtype state = open;
bit taken[2];
byte last[2] = NOBODY;  // Who entered last and may enter again; NOBODY also for a close.
byte arrived[2];
chan line[2] = [PUTS + TAKES + 2] of { byte };
byte verdict[THREADS + 2];
#define GO 1
#define CANCELLED 2
#define GIVEN_UP 3  // A close that a close with cancel overtook.

// Of the thread that is stopped:
bit stop;
bit registered;      // A stop calls back.
bit calls;           // It does so now.
bit stopped;         // It woke the thread, which waits for the lock.
bit waits_for_lock;
bit returned;

#define ROOM (CAPACITY - (memory[POSITION(PUT)] - memory[POSITION(TAKE)]))
#define IN (memory[POSITION(PUT)] - memory[POSITION(TAKE)])

inline drain_one(s) {
  memory[address[s * DEPTH]] = value[s * DEPTH];
  assert(memory[POSITION(TAKE)] <= memory[POSITION(PUT)] && IN <= CAPACITY);
  address[s * DEPTH] = address[s * DEPTH + 1];
  value[s * DEPTH] = value[s * DEPTH + 1];
  address[s * DEPTH + 1] = address[s * DEPTH + 2];
  value[s * DEPTH + 1] = value[s * DEPTH + 2];
  address[s * DEPTH + 2] = 0;
  value[s * DEPTH + 2] = 0;
  stores[s]--
}
inline drain(s) {
  do
  :: stores[s] > 0 -> drain_one(s)
  :: else -> break
  od
}
inline store(a, v) {
  d_step {
    if
    :: stores[side] == DEPTH -> drain_one(side)
    :: else -> skip
    fi;
    address[side * DEPTH + stores[side]] = a;
    value[side * DEPTH + stores[side]] = v;
    stores[side]++
  }
}
// `s`: the side whose lock the caller holds; -1: none.
inline heavy_fence(s) {
  d_step {
#ifdef WEAK
    if
    :: s >= 0 -> drain(s)
    :: else -> skip
    fi
#else
    drain(PUT);
    drain(TAKE)
#endif
  }
}

// A thread that waits for the other side knows its own position, and reads the other's and the state.
#define CAN_MOVE \
  ((side == PUT && CAPACITY > own[PUT] - memory[POSITION(TAKE)]) || \
   (side == TAKE && memory[POSITION(PUT)] > own[TAKE]))
#define IS_OVER \
  ((side == PUT && state != open) || \
   (side == TAKE && (state == closed || state == cancelled) && memory[POSITION(PUT)] == own[TAKE]))
#define IS_READY (CAN_MOVE || (side == PUT && state != open) || (side == TAKE && (state == closed || state == cancelled)))
#define IS_STOPPED (is_stopped && stop)

inline raise(which) { memory[WORD(which)] = RAISED }
inline wake(which) {
  d_step {
    was_parked = memory[PARKED(which)];
    memory[PARKED(which)] = 0
  }
  if
  :: was_parked -> atomic { raise(which); was_parked = 0 }
  :: else
  fi
}

// The lock. `me` may be a close, which stores nothing.
inline take_over(which) {
  if
  :: last[which] != me -> drain(which)
  :: else -> skip
  fi;
  last[which] = (me < THREADS -> me : NOBODY)
}
inline leave(which) {
  if
  :: len(line[which]) > 0 -> line[which] ? w; verdict[w] = GO; w = 0
  :: len(line[which]) == 0 -> taken[which] = 0
  fi
}

inline begin_callback() {
  atomic {
    registered = 1;
    if
    :: stop -> registered = 0; stopped = waits_for_lock
    :: else -> skip
    fi
  }
}
inline end_callback() { atomic { !calls -> registered = 0; stopped = 0 } }

// A thread comes for the first time after those with lower numbers.
#define COMES (left < K || arrived[side] == number)
inline come() {
  if
  :: left == K -> arrived[side]++
  :: else -> skip
  fi
}

inline move_one() {
  own[side]++;
  store(POSITION(side), own[side])
}

proctype thread(byte me, side, number; bit is_stopped) {
  byte left = K;
  byte w;
  bit was_parked;
  do
  :: atomic { COMES && is_stopped && stop -> come(); left = 0; goto again }
  :: atomic {
      COMES ->
      come();
      left--;
      if
      :: !taken[side] && len(line[side]) == 0 -> taken[side] = 1; take_over(side); goto holds
      :: else ->
        line[side] ! me;
        waits_for_lock = waits_for_lock || is_stopped;
        if
        :: last[side] == me -> drain(side)
        :: else -> skip
        fi
      fi
    };

    // Waits for the lock.
    if
    :: atomic { !is_stopped && verdict[me] != 0 -> skip }
    :: is_stopped ->
      begin_callback();
      if
      :: verdict[me] != 0
      :: stopped
      fi;
      end_callback()
    fi;
    atomic {
      if
      :: is_stopped -> waits_for_lock = 0
      :: else -> skip
      fi;
      if
      :: verdict[me] == 0 -> line[side] ?? eval(me); goto again
      :: verdict[me] == GO -> verdict[me] = 0; take_over(side)
      :: verdict[me] == CANCELLED -> verdict[me] = 0; goto again
      fi
    };

holds:
    if
    :: atomic { side == PUT && state != open -> goto leaves }
    :: !(side == PUT && state != open)
    fi;
    if
    :: atomic { CAN_MOVE -> move_one() }; goto moved
    :: atomic { IS_OVER -> goto leaves }
    :: !IS_READY
    fi;

    // Waits for the other side.
    if
    :: is_stopped -> begin_callback()
    :: !is_stopped
    fi;
    do
    :: store(WORD(side), IDLE);
      store(PARKED(side), 1);
      heavy_fence(side);
      if
#ifndef NO_LOOK
      :: atomic { IS_READY || IS_STOPPED -> store(PARKED(side), 0) }
      :: atomic { !IS_READY && !IS_STOPPED -> skip };
#else
      :: true ->
#endif
        atomic {
          drain(side);
          if
          :: memory[WORD(side)] == IDLE -> memory[WORD(side)] = ASLEEP
          :: else -> skip
          fi
        };
        atomic { memory[WORD(side)] != ASLEEP -> store(PARKED(side), 0) }
      fi;
      if
      :: atomic { is_stopped && (IS_READY || stop) -> break }
      :: atomic { !is_stopped && CAN_MOVE -> move_one(); goto moved }
      :: atomic { !is_stopped && IS_OVER -> goto leaves }
      :: atomic { !IS_READY && !IS_STOPPED -> skip }
      fi
    od;
    end_callback();
    if
    :: atomic { CAN_MOVE -> move_one() }
    :: atomic { !CAN_MOVE || IS_OVER -> goto leaves }
    fi;

moved:
    if
    :: memory[PARKED(1 - side)] ->
      d_step { drain(side); was_parked = memory[PARKED(1 - side)]; memory[PARKED(1 - side)] = 0 };
      if
      :: was_parked -> atomic { raise(1 - side); was_parked = 0 }
      :: else
      fi
    :: !memory[PARKED(1 - side)]
    fi;

leaves:
    atomic { leave(side) };
again:
    if
    :: atomic {
        left == 0 ->
        if
        :: last[side] == me -> last[side] = NOBODY
        :: else -> skip
        fi;
        returned = returned || is_stopped;
        break
      }
    :: left > 0
    fi
  od
}

proctype buffer(byte s) {
end:
  do
  :: atomic { stores[s] > 0 -> drain_one(s) }
  od
}

proctype stopper(byte side) {
  stop = 1;
  atomic {
    if
    :: registered -> registered = 0; calls = 1
    :: else -> goto done
    fi
  }
  if
  :: atomic { waits_for_lock -> stopped = 1; calls = 0 }
  :: !waits_for_lock ->
#ifndef NO_WAKE_AT_STOP
    raise(side);
#endif
    calls = 0
  fi;
done:
  skip
}

inline audit() {
  d_step {
    assert(memory[WORD(PUT)] != ASLEEP || (ROOM == 0 && state == open));
    assert(memory[WORD(TAKE)] != ASLEEP || (IN == 0 && state == open));
    assert(len(line[PUT]) == 0 || taken[PUT]);
    assert(len(line[TAKE]) == 0 || taken[TAKE]);
    assert(!stop || returned)
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
    heavy_fence(-1);
    atomic {
      do
      :: line[PUT] ? w ->
        if
        :: w < THREADS -> verdict[w] = CANCELLED
        :: else -> verdict[w] = GIVEN_UP
        fi
      :: len(line[PUT]) == 0 -> break
      od;
      w = 0
    }
#ifndef NO_WAKE_AT_CANCEL
    wake(PUT)
#endif
  :: !cancels
  fi;
  atomic {
    if
    :: !taken[PUT] && len(line[PUT]) == 0 -> taken[PUT] = 1; verdict[me] = GO
    :: else -> line[PUT] ! me
    fi
  }
  atomic {
    verdict[me] != 0;
    if
    :: verdict[me] == GIVEN_UP -> verdict[me] = 0; goto done
    :: else -> verdict[me] = 0
    fi;
    take_over(PUT)
  };
  atomic {
    if
    :: cancels && state == cancelling -> state = cancelled
    :: !cancels && state == open -> state = closed
    :: else -> skip
    fi
  }
  atomic { leave(PUT) };
  heavy_fence(-1);
#ifdef NO_WAKE_AT_CLOSE
  if
  :: cancels -> wake(TAKE)
  :: !cancels
  fi
#else
  wake(TAKE)
#endif
}

#if defined(CLOSE) || defined(CANCEL)
proctype closer() {
  byte me = THREADS;
  byte w;
  bit was_parked;
  if
#ifdef CLOSE
  :: true -> close_gate(false)
#endif
#ifdef CANCEL
  :: true -> close_gate(true)
#endif
#if defined(CLOSE) && defined(CANCEL)
  :: true
#endif
  fi;
done:
  skip
}
#endif

proctype finisher() {
  byte me = THREADS + 1;
  byte w;
  bit was_parked;
  timeout -> audit();
  close_gate(true);
done:
  skip
}

init {
  byte t, puts, takes;
  byte victim = NOBODY;
  atomic {
    select(puts : 1 .. PUTS);
    select(takes : 1 .. TAKES);
#ifdef STOP
    select(victim : 0 .. puts + takes - 1);
#endif
    t = 0;
    do
    :: t < puts -> run thread(t, PUT, t, t == victim); t++
    :: t >= puts && t < puts + takes -> run thread(t, TAKE, t - puts, t == victim); t++
    :: t == puts + takes -> break
    od;
    run buffer(PUT);
    run buffer(TAKE);
#if defined(CLOSE) || defined(CANCEL)
    run closer();
#endif
#ifdef STOP
    run stopper((victim < puts -> PUT : TAKE));
#endif
    run finisher();
    t = 0;
    puts = 0;
    takes = 0;
    victim = 0
  }
}
