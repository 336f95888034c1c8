# shellcheck shell=bash
# The CUDA variant of a recipe: the toolkit, NCCL and UCX of the locked wheels, and an OpenMPI that moves device
# buffers by them. Sourced by bash after install.sh. Neither a GPU nor a driver is needed.

# unpack_wheels FOLDER: makes /opt/cuda, /opt/nccl and /opt/ucx of the wheels that are there.
unpack_wheels() {
  local wheel
  mkdir -p /opt/wheels
  for wheel in "$1"/*.whl; do (cd /opt/wheels && cmake -E tar xf "$wheel"); done
  rm -rf "$1" /opt/wheels/*.dist-info
  [ ! -d /opt/wheels/nvidia/cu13 ] || complete_cuda
  [ ! -d /opt/wheels/libucx ] || complete_ucx
  chmod -R a+rX /opt/wheels
  ls -d /opt/{cuda,nccl,ucx,wheels/nvidia/cuda_runtime}/lib 2>/dev/null >/etc/ld.so.conf.d/weft.conf || true
  ldconfig
}

# nvcc, CMake and the linker look for these names, which the wheels leave out.
complete_cuda() {
  ln -s wheels/nvidia/cu13 /opt/cuda
  ln -s wheels/nvidia/nccl /opt/nccl
  ln -s lib /opt/cuda/lib64
  ln -s libcudart.so.13 /opt/cuda/lib/libcudart.so
  ln -s libnccl.so.2 /opt/nccl/lib/libnccl.so
  chmod +x /opt/cuda/bin/* /opt/cuda/nvvm/bin/*
}

# The wheel names the folder it was built in, and holds each library under all its names instead of links.
complete_ucx() {
  local library
  ln -s wheels/libucx /opt/ucx
  sed -i -E 's|^prefix *=.*|prefix=/opt/ucx|' /opt/ucx/lib/pkgconfig/*.pc
  rm -rf /opt/ucx/lib/{,ucx/}*.{a,la} /opt/ucx/lib/ucx/libucx_perftest* /opt/ucx/bin
  for library in /opt/ucx/lib/{,ucx/}*.so.0.0.0; do
    ln -sf "$(basename "$library")" "${library%.0.0}"
    ln -sf "$(basename "$library")" "${library%.0.0.0}"
  done
}

# make_driver_stub FOLDER: a libcuda to link with. It has every function of cuda.h, each of which answers that no
# device is there; on a machine with GPUs the driver's own takes its place.
make_driver_stub() {
  mkdir -p "$1"
  cat /opt/wheels/nvidia/cu*/include/cuda.h | grep -oE '\bcu[A-Z][A-Za-z0-9_]*[[:space:]]*\(' | tr -d ' (\t' | sort -u |
    sed 's/.*/int &(void) { return 100; }/' |
    gcc -shared -fPIC -Wl,-soname,libcuda.so.1 -x c - -o "$1/libcuda.so.1"
  ln -sf libcuda.so.1 "$1/libcuda.so"
}

# build_openmpi VERSION: makes /opt/openmpi from Debian's source package, which apt checks.
build_openmpi() {
  local -r work=/opt/weft/openmpi-build
  sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
  apt-get update -q
  mkdir -p "$work/source"
  cd "$work" || return
  apt-get source -q --download-only "openmpi=$1"
  tar -C source --strip-components 1 -xf openmpi_*.orig.tar.*
  make_driver_stub /opt/driver-stub
  cd source || return
  # accelerator-cuda as a plugin leaves libmpi free of libcuda, so that it also runs where no driver is.
  ./configure --quiet --prefix=/opt/openmpi --with-cuda=/opt/cuda --with-cuda-libdir=/opt/driver-stub --with-ucx=/opt/ucx \
    --with-pmix=external --with-hwloc=external --with-libevent=external --with-prrte=internal \
    --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-rgpusm,rcache-gpusm --enable-prte-prefix-by-default \
    --disable-mpi-fortran --disable-oshmem --disable-io-romio --disable-static --disable-debug --disable-sphinx \
    --without-ofi --without-verbs --without-psm2 CFLAGS=-O2 \
    LDFLAGS="-Wl,-rpath,/opt/ucx/lib -Wl,-rpath-link,/opt/ucx/lib -Wl,-rpath,/usr/lib/x86_64-linux-gnu/pmix2/lib"
  make --silent -j"$(nproc)"
  make --silent install-strip
  cd /
  rm -rf "$work" /opt/openmpi/share/{doc,man} /etc/apt/sources.list.d/source.list
}
