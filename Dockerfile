# syntax=docker/dockerfile:1

# An image with the wheel and its dependencies, and no Rust:
#
#     docker build --tag floodway .
#     docker run --rm floodway                                          PFC against Bifrost over 80 km
#     docker run --rm --volume "$PWD:/work" --user "$(id -u)" floodway run mine.toml

FROM rust:1.95-slim-trixie AS wheel
# The versions of Debian's packages are those of the image's release.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends make python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /floodway
COPY . .
RUN make wheel

FROM python:3.14-slim-trixie
# Versions are those that the tests run with.
RUN --mount=type=bind,from=wheel,source=/floodway,target=/floodway,rw \
    pip install --no-cache-dir --constraint /floodway/requirements/dev.lock /floodway/dist/*.whl /floodway/lab
# matplotlib keeps its list of fonts here, whichever user runs it.
ENV MPLCONFIGDIR=/tmp/matplotlib
RUN useradd --uid 1000 --create-home floodway \
    && install --directory --owner floodway /work
USER 1000
WORKDIR /work
ENTRYPOINT ["floodway"]
CMD ["compare", "scenarios/demo.toml", "--vary", "long-haul.flow-control=pfc,bifrost", "--out", "out/demo", "--force"]
