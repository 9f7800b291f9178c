# Runs at every build. Writes OUTPUT only if the checkout's version changed, so that a build without changes compiles
# nothing. Variables: SOURCE_DIR, GIT (may be empty) and OUTPUT.
file(READ ${SOURCE_DIR}/../package.json product)
string(JSON version GET ${product} version)
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse --short HEAD WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  # git describe --dirty would lock the index, which could make a concurrent commit fail.
  execute_process(COMMAND ${GIT} --no-optional-locks status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit)
    string(APPEND version "+${commit}")
    if(changes)
      string(APPEND version "-dirty")
    endif()
  endif()
endif()
set(content "#define STARPO_BUILD \"${version}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT content STREQUAL before)
  file(WRITE ${OUTPUT} "${content}")
endif()
