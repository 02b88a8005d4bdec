// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "cli/command_line.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "headpond/plan/plan_value.h"

namespace headpond::cli {
namespace {

void complain(std::string_view text) { put_on_stderr(fmt::format("headpond: {}\n", text)); }

int failed(Session& session, const Error& error, int exit_code) {
  const bool interrupted = session.interrupt().requested();
  complain(interrupted ? "interrupted" : exit_code == kUsage ? error.message() : error.to_string());
  if (exit_code == kUsage) return exit_code;
  const auto written = session.write_json([&](JsonWriter& json) {
    if (interrupted) {
      json.member("interrupted", true);
    } else {
      write_error(json, error);
    }
  });
  if (!written) complain(written.error().to_string());
  return interrupted ? kInterrupted : exit_code;
}

int run(const Verb& verb, const CommonFlags& common) {
  Interrupt interrupt;
  Session session(verb.path, common, interrupt);
  try {
    const auto report = verb.run(session);
    if (!report)
      return failed(session, report.error(), report.error().kind() == ErrorKind::Unimplemented ? kUsage : kFailed);
    if (const auto written = session.write_json(report->members); !written) {
      complain(written.error().to_string());
      return kFailed;
    }
    if (const auto said = session.all_was_said(); !said) {
      complain(said.error().to_string());
      return kFailed;
    }
    return report->exit_code;
  } catch (const plan::PlanError& error) {  // The form of compilers: FILE:LINE first.
    put_on_stderr(error.error().message() + "\n");
    return kUsage;
  } catch (const Exception& error) {
    return failed(session, error.error(), error.error().kind() == ErrorKind::InvalidArgument ? kUsage : kFailed);
  } catch (...) {
    return failed(session, current_exception_error(), kFailed);
  }
}

}  // namespace

void prepare_process() {
  (void)std::signal(SIGUSR2, SIG_IGN);
  // A file that is opened gets the first free number, and would be read or written in the place of a stream. Each of
  // these can be used only the other way round.
  for (const auto& [stream, flags] : {std::pair{0, O_WRONLY}, {1, O_RDONLY}, {2, O_RDONLY}}) {
    if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", flags);
  }
}

int run_program(const std::vector<std::string>& arguments) {
  const std::vector<Verb> verbs = {run_verb(),          check_verb(),        explain_verb(),     diagnose_verb(),
                                   profile_verb(),      stalls_verb(),       top_verb(),         convert_verb(),
                                   verify_verb(),       inspect_verb(),      view_verb(),        cache_ls_verb(),
                                   cache_rm_verb(),     demo_verb(),         train_blstm_verb(), train_mnist_verb(),
                                   train_nuclei_verb(), train_spoken_verb(), bench_verb(),       version_verb()};
  const Line line = parse(arguments, verbs, bench_names());
  if (line.verb == nullptr) {
    if (line.exit_code != kOk) {
      put_on_stderr("headpond: " + line.text);
      return line.exit_code;
    }
    const TextOutput out{stdout, "write to", "stdout"};
    const auto written = out.write(line.text).and_then([&out] { return out.flush(); });
    if (!written) complain(written.error().to_string());
    return written ? kOk : kFailed;
  }
  return run(*line.verb, line.common);
}

}  // namespace headpond::cli
