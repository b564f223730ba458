# Stint as an image: built on Debian 12, run on Debian 12 with nothing but what it links.
#   docker build -t stint .
#   docker run -p 8080:8080 -v "$PWD/stint.yaml:/etc/stint/stint.yaml:ro" stint

FROM debian:12-slim AS build
COPY scripts/common.sh scripts/install-deps /src/scripts/
RUN /src/scripts/install-deps build release && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN /src/scripts/build-release && strip /src/build-release/gateway/stint

FROM debian:12-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates libdate-tz3 libfmt9 libnghttp2-14 libprometheus-cpp-core1.0 libre2-9 libsodium23 \
        libspdlog1.10 libsqlite3-0 libssl3 libyaml-cpp0.7 tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin stint
COPY --from=build /src/build-release/gateway/stint /usr/local/bin/stint
COPY config/container.yaml /etc/stint/stint.yaml
USER stint
EXPOSE 8080
STOPSIGNAL SIGTERM
# Bash speaks TCP itself: the image needs no curl for this.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9901 && printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["stint"]
CMD ["run", "-c", "/etc/stint/stint.yaml"]
